"""Prints docs/options.md, the table of all options, from the classes that declare them: ``make docs/options.md``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from corate.display import in_words
from corate.training.methods import METHODS, Method, Option, options_of

INTRODUCTION = """\
# Options of the training methods

This page lists the options of all training methods. You can set an option in three ways:

```python
corate.train(corpus, "standard", c2=0.1)
corate.train(corpus, corate.Standard(c2=0.1))
```

```bash
corate train FILE -o MODEL --method standard --c2 0.1
```

An unknown option, or a value that is out of range, raises a `ConfigError` that names the option. On the command line,
the exit code is then 2. The arguments of `corate.train` that are the same for all methods, such as `features`,
`held_out`, `init`, `threads`, `seed` and `progress`, are not listed here; see [Python API](api.md#training).

Few users need the *expert options*. They are set together in Python, and with `--set` on the command line:

```python
corate.train(corpus, "standard", expert={"batch": 4})
```

```bash
corate train FILE -o MODEL --method standard --set batch=4
```

Until version 0.4, they can also be set like other options, with a warning.

In the tables, *tuned* means that the value is chosen on held-out tokens. An option without a default is not used unless
you set it. If a default depends on the corpus, `record["settings"]` of the tagger shows the value that was used.

On the command line, `corate train --help` shows the options that most people use, and `corate train --help-all` shows
all options.

A long command shows its progress and the time left. On a terminal, it shows a bar. Otherwise, after two seconds, it
writes lines to standard error, one for each pass or every few seconds. `--quiet` turns this off for one command, and
the environment variable `CORATE_PROGRESS=0` for all commands. If training continues from a `--checkpoint`, a message
names the pass. In Python, pass a function to `progress`; it is called with a `corate.ProgressEvent`.

The page is generated from `corate.training.methods` by `make docs/options.md`.
"""


def row(option: Option) -> str:
    """The line of an option."""
    default = option.unset if option.default is None else f"`{in_words(option.default)}`"
    flag = f"`--set {option.name}=...`" if option.expert else f"`{option.flag}`" if option.flag else ""
    return f"| `{option.name}` | {flag} | {option.values} | {default} | {option.help} |"


def section(method: type[Method]) -> str:
    """The tables of a method."""
    head = inspect.cleandoc(method.__doc__ or "").split("\n\n")[0]
    options = options_of(method).values()
    expert = [option for option in options if option.expert]
    text = f"## `{method.name}`: `corate.{method.__name__}`\n\n{head}\n\n"
    text += table([option for option in options if not option.expert])
    return text + ("\nExpert options:\n\n" + table(expert) if expert else "")


def table(options: Sequence[Option]) -> str:
    """A table of options."""
    head = ["| option | command line | values | default | meaning |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *map(row, options)]) + "\n"


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(section(method) for method in METHODS.values())])


if __name__ == "__main__":
    print(page(), end="")
