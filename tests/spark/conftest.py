"""One Spark session for all tests of this folder. Without PySpark or Java 17 they are skipped, and say why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _missing() -> str | None:
    """What Spark needs and this machine does not have."""
    try:
        import pyspark  # noqa: F401
    except ModuleNotFoundError:
        return "PySpark is not installed: pip install 'corate[spark]'"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if java is None or subprocess.run([java, "-version"], capture_output=True, check=False).returncode:
        return "there is no Java: install Java 17, for example openjdk-17-jre-headless"
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    missing = _missing()
    if missing is not None:
        pytest.skip(f"SPARK IS NOT TESTED: {missing}")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2, 2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
