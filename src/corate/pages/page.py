"""Self-contained web pages and notebook fragments.

The text in a page comes from strangers: tokens, labels, names of features and files. Templates escape all of it, data
stand in a JSON script, and a content security policy allows nothing but the style sheet and the script of the page. It
names both by their hash, so no other script runs, and the page requests nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corate.display import counted

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["fragment", "isolated", "render", "visible"]

_HERE = Path(__file__).parent
#: Controls, bidi controls and other characters that are invisible, or not characters of text. Joiners are not among
#: them: some scripts and emoji need them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
#: What HTML or UTF-8 does not allow.
_NOT_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
#: What is special in the text of an HTML element, or cannot be encoded.
_NOT_JSON_SCRIPT = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def render(
    template: str,
    /,
    *,
    data: Any = None,
    script: str | None = None,
    style: str | None = None,
    folder: Path = _HERE,
    **values: Any,
) -> str:
    """A page from a file in ``templates``, which extends ``base.html``.

    Another package gives the ``folder`` that has its own ``templates`` and ``static``.

    ``script`` names a file in ``static``, the only script that runs in the page. It finds ``data``, anything that JSON
    can hold, in the element with the id ``data``. ``style`` names a style sheet there that only this page
    has. All ``values`` are escaped where the template writes them.

    >>> page = render("base.html", title="<b>", data=["</script>"])
    >>> "<title>&lt;b&gt;</title>" in page, "</script>" in page.partition('id="data">')[2].partition("]")[0]
    (True, False)
    """
    from markupsafe import Markup

    look = _static("colours.css") + _static("page.css") + ("" if style is None else _static(style, folder))
    code = "" if script is None else _static(script, folder)
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(code)}" if code else "script-src 'none'",
            f"style-src {_hash(look)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    text = (
        _environment(folder)
        .get_template(template)
        .render(
            **values,
            policy=policy,
            style=Markup(look),
            script=Markup(code),
            data=None if data is None else Markup(_json(data)),
        )
    )
    return _NOT_HTML.sub("\ufffd", text)


def fragment(template: str, /, **values: Any) -> str:
    """A part of a notebook from a file in ``templates``, which extends ``fragment.html``.

    It has no script, and its style sheet concerns nothing outside it.

    >>> "Delft &amp; Gouda" in fragment("fragment.html", title="Delft & Gouda")
    True
    """
    from markupsafe import Markup

    style = Markup(_static("colours.css") + _static("fragment.css"))
    return _NOT_HTML.sub("\ufffd", _environment().get_template(template).render(**values, style=style))


def visible(text: str) -> str:
    """Text whose controls and other invisible characters are shown by their codes.

    >>> print(visible("Delft\\u202e\\x00"))
    Delft⟨U+202E⟩⟨U+0000⟩
    """
    return _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def isolated(text: object) -> Markup:
    """Text of strangers for a template: visible, escaped, and with a direction that changes nothing around it.

    >>> print(isolated("<Delft>"))
    <bdi>&lt;Delft&gt;</bdi>
    """
    from markupsafe import Markup

    return Markup("<bdi>{}</bdi>").format(visible(str(text)))


@cache
def _environment(folder: Path = _HERE) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([folder / "templates", _HERE / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = counted
    environment.filters["isolated"] = isolated
    environment.filters["visible"] = visible
    environment.globals["zip"] = zip
    return environment


@cache
def _static(name: str, folder: Path = _HERE) -> str:
    """A file of a package, with the line ends that an HTML parser hands on."""
    return (folder / "static" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The source expression of a content security policy for exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(data: Any) -> str:
    """JSON that no HTML parser can take for anything else."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _NOT_JSON_SCRIPT.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
