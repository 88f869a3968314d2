"""``corate rates --between``: values of the columns of a table that attract and avoid each other."""

import builtins
import json

import numpy as np
import pytest

from corate.rate import Counts

ROWS = {
    "season": ["summer"] * 4 + ["winter"] * 6,
    "sky": ["sun", "sun", "sun", "rain", "rain", "rain", "rain", "sun", "sun", "rain"],
    "ground": ["dry", "dry", "dry", "wet", "wet", "wet", "wet", "wet", "dry", "dry"],
}


@pytest.fixture(name="table")
def _table(tmp_path):
    path = tmp_path / "weather.csv"
    path.write_text("\n".join([",".join(ROWS), *map(",".join, zip(*ROWS.values(), strict=True))]) + "\n")
    return path


def in_words(result):
    assert (result.code, result.err) == (0, "")
    return json.loads(result.text)


def test_rates_are_those_of_the_definition(corate, table):
    facts = in_words(corate("rates", table, "--between", "sky,ground", "--smooth", "0", "--json"))
    counts = Counts.of_frame(ROWS)
    assert (facts["between"], facts["given"], facts["rows"]) == (["sky", "ground"], [], 10)
    for rate in facts["attractive"] + facts["repulsive"]:
        assert rate["rate"] == pytest.approx(counts.value("CR(sky; ground)", rate["values"]))
        assert rate["observed"] == round(10 * counts.value("P(sky, ground)", rate["values"]))
        assert rate["expected"] == pytest.approx(10 * counts.value("P(sky) P(ground)", rate["values"]))
    assert [rate["values"] for rate in facts["attractive"]] == [
        {"sky": "sun", "ground": "dry"},
        {"sky": "rain", "ground": "wet"},
    ]
    assert facts["attractive"][0]["rate"] >= facts["attractive"][1]["rate"] > 1
    assert facts["repulsive"][0]["rate"] <= facts["repulsive"][1]["rate"] < 1
    test = counts.test("sky", "ground")
    assert facts["tests"] == [
        {
            "left": ["sky"],
            "right": ["ground"],
            "given": [],
            "G2": pytest.approx(test.statistic),
            "degrees": test.degrees,
            "p_value": pytest.approx(test.p_value),
        }
    ]


def test_rates_may_be_conditional_and_of_several_columns(corate, table):
    counts = Counts.of_frame(ROWS)
    facts = in_words(corate("rates", table, "--between", "sky, ground", "--given", "season", "--smooth", "0", "--json"))
    assert facts["attractive"]
    for rate in facts["attractive"] + facts["repulsive"]:
        at = rate["values"] | rate["given"]
        assert rate["rate"] == pytest.approx(counts.value("CR(sky; ground | season)", at), abs=1e-12)
    assert facts["tests"][0]["G2"] == pytest.approx(counts.test("sky", "ground", "season").statistic)
    facts = in_words(corate("rates", table, "--between", "sky,ground,season", "--smooth", "0", "--json"))
    for rate in facts["attractive"] + facts["repulsive"]:
        assert rate["rate"] == pytest.approx(counts.value("CR(sky; ground; season)", rate["values"]), abs=1e-12)
    assert [(test["left"], test["right"]) for test in facts["tests"]] == [
        (["sky"], ["ground"]),
        (["sky", "ground"], ["season"]),
    ]


def test_smoothing_and_the_number_of_rates(corate, table):
    plain = in_words(corate("rates", table, "--between", "sky,ground", "--smooth", "0", "-n", "1", "--json"))
    smooth = in_words(corate("rates", table, "--between", "sky,ground", "--smooth", "5", "-n", "1", "--json"))
    assert len(plain["attractive"]) == len(plain["repulsive"]) == 1
    assert 1 < smooth["attractive"][0]["rate"] < plain["attractive"][0]["rate"]


def test_values_that_never_occur_with_a_condition_are_not_listed(corate, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "x,x,1\ny,y,1\n" * 5 + "z,z,2\nw,w,2\n" * 5)
    facts = in_words(corate("rates", path, "--between", "a,b", "--given", "c", "--smooth", "0", "--json"))
    seen = {"1": {"x", "y"}, "2": {"z", "w"}}
    for rate in facts["attractive"] + facts["repulsive"]:
        assert {*rate["values"].values()} <= seen[rate["given"]["c"]]


def test_tables_are_printed(corate, table):
    lines = corate("rates", table, "--between", "sky,ground").text.splitlines()
    assert lines[0] == "values that attract each other"
    assert lines[1].split() == ["sky", "ground", "observed", "expected", "rate"]
    assert lines[2].split()[:4] == ["sun", "dry", "4", "2.50"]
    assert "values that avoid each other" in lines
    assert lines[-1] == str(Counts.of_frame(ROWS).test("sky", "ground"))


def test_independent_columns_have_nothing_to_list(corate, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,1\nx,2\ny,1\ny,2\n")
    assert corate("rates", tmp_path / "t.csv", "--between", "a,b").text.startswith("no values attract or avoid")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        (b"a;b\nx;1\ny;2\n", []),
        (b"a\tb\nx\t1\ny\t2\n", []),
        (b"a b\nx 1\ny 2\n", ["--separator", "space"]),
        (b"a|b\nx|1\ny|2\n", ["--separator", "|"]),
        (b"\xef\xbb\xbfa, b\r\n\r\nx, 1\r\ny, 2\r\n", []),
        ("a,b\nx,1\ny,2\n".encode("utf-16"), ["--encoding", "utf-16"]),
        (b'"a","b"\n"x","1"\n"y","2"', []),
    ],
)
def test_tables_come_in_several_dialects(corate, written, options):
    facts = in_words(corate("rates", "-", "--between", "a,b", "--json", *options, stdin=written))
    assert {tuple(rate["values"].values()) for rate in facts["attractive"]} == {("x", "1"), ("y", "2")}


def test_values_and_names_may_have_commas_and_line_feeds(corate):
    written = b'"wind, knots",b\n"1,5",x\n"2\n0",y\n'
    facts = in_words(corate("rates", "-", "--between", '"wind, knots",b', "--json", stdin=written))
    assert {rate["values"]["wind, knots"] for rate in facts["attractive"]} == {"1,5", "2\n0"}


def test_parquet_files_are_read(corate, tmp_path, table):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "weather.parquet"
    parquet.write_table(pyarrow.table(ROWS), path)
    options = ("--between", "sky,ground", "--given", "season", "--json")
    assert {**in_words(corate("rates", path, *options)), "source": ""} == {
        **in_words(corate("rates", table, *options)),
        "source": "",
    }
    assert (
        "has no column 'moon'; it has 'season', 'sky', 'ground'" in corate("rates", path, "--between", "sky,moon").err
    )
    parquet.write_table(pyarrow.table({"a": [1, 2, None], "b": [0.5, float("nan"), 1.5]}), path)
    assert "row 2: column 'b' has no value" in corate("rates", path, "--between", "a,b").err
    (tmp_path / "broken.parquet").write_bytes(path.read_bytes()[:60])
    result = corate("rates", tmp_path / "broken.parquet", "--between", "a,b")
    assert (result.code, "cannot be read as a Parquet file" in result.err) == (1, True)


def test_parquet_without_pyarrow_tells_how_to_install_it(corate, tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and so on")
    imported = builtins.__import__

    def without_pyarrow(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    result = corate("rates", tmp_path / "t.parquet", "--between", "a,b")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "pip install corate[parquet]" in result.err


@pytest.mark.parametrize(
    ("written", "names", "message"),
    [
        ("", "a,b", "is empty; a table needs a header row"),
        ("\n\n", "a,b", "is empty; a table needs a header row"),
        ("a,b\n", "a,b", "no rows to count"),
        ("a,b\nx,1\n", "a,c", "has no column 'c'; it has 'a', 'b'"),
        ("a,b,b\nx,1,2\n", "a,b", "has 2 columns named 'b'; rename all but one"),
        (
            "a,b\nx,1\n,2\n",
            "a,b",
            "line 3: column 'a' has no value; fill it in, or leave such rows out with --skip-bad",
        ),
        ("a,b\nx,1\nx,1,2\n", "a,b", "line 3: the row has 3 fields, and the header row has 2"),
        ("a,b\nx,1\nx\n", "a,b", "line 3: the row has 1 field, and the header row has 2"),
        ("a,b\n" + "x" * 200_000 + ",1\n", "a,b", "line 2: field larger than field limit"),
    ],
)
def test_tables_that_cannot_be_used_end_with_one_line(corate, tmp_path, written, names, message):
    (tmp_path / "t.csv").write_text(written)
    result = corate("rates", tmp_path / "t.csv", "--between", names)
    assert (result.code, result.out, result.err.count("\n")) == (1, b"", 1)
    assert message in result.err
    assert "t.csv" in result.err


def test_files_that_are_not_there_end_with_one_line(corate, tmp_path):
    for name in ("nothing.csv", "."):
        result = corate("rates", tmp_path / name, "--between", "a,b")
        assert (result.code, result.err.count("\n")) == (1, 1)


def test_bad_rows_can_be_left_out(corate, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,1\n,2\ny,2\nz\n")
    result = corate("rates", tmp_path / "t.csv", "--between", "a,b", "--skip-bad", "--json")
    assert (result.code, json.loads(result.text)["rows"]) == (0, 2)
    assert "skipped 2 malformed rows, the first in line 3" in result.err
    (tmp_path / "t.csv").write_text("a,b\n,1\n")
    result = corate("rates", tmp_path / "t.csv", "--between", "a,b", "--skip-bad")
    assert (result.code, "no rows to count without a missing value" in result.err) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "seems to be a table; name its columns with --between"),
        (["--between", "sky"], "at least two columns"),
        (["--between", ""], "at least two columns"),
        (["--between", "sky,,ground"], "a name is missing"),
        (["--between", "sky,sky"], "'sky' is named twice"),
        (["--between", "sky,ground", "--given", "sky"], "'sky' is named twice"),
        (["--given", "sky", "--format", "columns"], "this goes with --between"),
        (["--between", "sky,ground", "--columns", "word,label"], "for labelled text"),
        (["--between", "sky,ground", "--format", "columns"], "for labelled text"),
        (["--between", "sky,ground", "--data", "other.csv"], "not for the columns of a table"),
        (["--between", "sky,ground", "--svg", "map.svg"], "not for the columns of a table"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(corate, table, options, message):
    result = corate("rates", table, *options)
    assert (result.code, result.out) == (2, b"")
    assert message in " ".join(result.err.replace("│", " ").split())


def test_a_separator_must_be_one_character_and_no_quotation_mark(corate, table):
    for separator in ("ab", '"'):
        result = corate("rates", table, "--between", "sky,ground", "--separator", separator)
        assert (result.code, "the separator" in result.err) == (1, True)


def test_columns_with_too_many_values_are_refused(corate, tmp_path):
    values = np.arange(5000)
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{i},{i}\n" for i in values.tolist()))
    result = corate("rates", tmp_path / "t.csv", "--between", "a,b")
    assert (result.code, "25,000,000 cells" in result.err) == (1, True)
