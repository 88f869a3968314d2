"""Help texts with options in groups, also in plain text."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["GroupedCommand"]


class GroupedCommand(TyperCommand):
    """A command whose help groups its options by panel; options without a panel are first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for the arguments, one for the options, and one for each panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                default = "Arguments" if param.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(param, "rich_help_panel", None) or default, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
