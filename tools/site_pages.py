"""Makes the documentation site of the files outside ``docs/`` and rewrites links to them; a hook of MkDocs.

Pages link to files as they lie in the repository, so that links work where the repository is shown on the web. On the
site, a Markdown file outside ``docs/`` becomes a page (``PAGES``), and so does each example. Other files are linked at
``repo_url``; while that is not set, their links are plain text.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
#: Pages of the site that are made of files outside docs/.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "measurements.md",
    "benchmarks/experiments.md": "experiments.md",
}
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^()\s]+)\)")
_FENCE = re.compile(r"^(```+)(.*?)^\1$", re.DOTALL | re.MULTILINE)


def example_page(path: str) -> str:
    """The page of an example: ``examples/web_server.py`` has ``example-web_server.md``."""
    return f"example-{Path(path).stem}.md"


def examples() -> list[str]:
    """The paths of all examples."""
    return [
        f"examples/{path.name}" for path in sorted((ROOT / "examples").iterdir()) if path.suffix in (".py", ".ipynb")
    ]


def pages() -> dict[str, str]:
    """The page of each file of the repository that has one."""
    own = {f"docs/{path.name}": path.name for path in (ROOT / "docs").glob("*.md")}
    return own | PAGES | {path: example_page(path) for path in examples()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the page of each example in the section Examples of the navigation."""
    listed = [{Path(path).name: example_page(path)} for path in examples()]
    guides = next(entry["Guides"] for entry in config.nav or [] if "Guides" in entry)
    next(entry["Examples"] for entry in guides if "Examples" in entry).extend(listed)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of files outside docs/."""
    for path, page in PAGES.items():
        if page != "index.md":
            files.append(File.generated(config, page, content=(ROOT / path).read_text("utf-8")))
    for path in examples():
        files.append(File.generated(config, example_page(path), content=_show(path)))
    return files


def _show(path: str) -> str:
    """An example as Markdown."""
    text = (ROOT / path).read_text("utf-8")
    if path.endswith(".py"):
        return f"# {path}\n\n```python\n{text}```\n"
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts) + f"\n\nThis is the notebook `{path}`.\n"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page, and name the languages of its examples as Pygments does."""
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    if page.file.src_uri == PAGES["benchmarks/README.md"]:
        page.meta["search"] = {"exclude": True}  # thousands of numbers
    sources = {to: path for path, to in pages().items() if to != "index.md"} | {"index.md": "docs/index.md"}
    place = posixpath.dirname(sources[page.file.src_uri])
    parts, at = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_rewrite(markdown[at : fence.start()], place, config), _session(fence[0])]
        at = fence.end()
    return "".join([*parts, _rewrite(markdown[at:], place, config)])


def _session(fence: str) -> str:
    """A fenced block whose prompts and output are told apart, so that copying it leaves them out."""
    return fence.replace("```python\n>>> ", "```pycon\n>>> ", 1)


def _unescape(row: str) -> str:
    """A row of a table without the backslashes that GitHub wants before "|" in code, and Python-Markdown shows."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row)


def _rewrite(text: str, place: str, config: MkDocsConfig) -> str:
    """Text with links that are right on the site; ``place`` is the folder that links are relative to."""
    made = pages()

    def link(found: re.Match[str]) -> str:
        shown, target = found[1], found[2]
        path, mark, heading = target.partition("#")
        if not path or ":" in path:
            return found[0]
        path = posixpath.normpath(posixpath.join(place, path))
        if path in made:
            return f"{shown}({made[path]}{mark}{heading})"
        if path.startswith("docs/"):
            return f"{shown}({path.removeprefix('docs/')}{mark}{heading})"
        if not (ROOT / path).exists():
            raise PluginError(f"a link leads nowhere: {found[0]}")
        if config.repo_url:
            return f"{shown}({config.repo_url.rstrip('/')}/blob/main/{path})"
        return shown[1:-1]

    return _LINK.sub(link, re.sub(r"^\|.*$", lambda row: _unescape(row[0]), text, flags=re.MULTILINE))
