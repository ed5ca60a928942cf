"""How a verb reads its command line, and how its help looks."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

from typer.core import TyperCommand

_SPREAD = ("--hyp", "--ref")  # further files may follow their value, as with sacrebleu
_KINDS = {"<int>": "N", "<int range>": "N", "<float>": "NUMBER", "<float range>": "NUMBER", "<str>": "TEXT"}


class Command(TyperCommand):
    """A verb: several files may follow one option, and its help ends in an example, its `epilog`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; see `spread`."""
        flags = {flag for param in self.params if set(_SPREAD) & {*param.opts} for flag in param.opts if param.multiple}
        return super().parse_args(ctx, spread(args, flags))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands in the usage line: arguments as they are declared."""
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        return [self.options_metavar or "", *(str(param.metavar or param.name) for param in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options, each with what stands for its value."""
        parts: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                is_option = param.param_type_name == "option"
                name = _named(record[0]) if is_option else str(param.metavar or param.name)
                parts[param.param_type_name].append((name, record[1]))
        for kind, records in parts.items():
            if records:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The example, in one line that can be copied."""
        if self.epilog:
            with formatter.section("Example"):
                formatter.write(f"{'':{formatter.current_indent}}{self.epilog}\n")


def spread(words: Sequence[str], options: Collection[str]) -> list[str]:
    """`-i a.txt b.txt` as `-i a.txt -i b.txt`, where `b.txt` is a file.

    Args:
        words: the command line.
        options: the options whose value further files may follow.
    """
    read: list[str] = []
    option, takes_value = "", False
    for place, word in enumerate(words):
        if word == "--":
            return [*read, *words[place:]]
        if takes_value:
            takes_value = False
        elif word in options:
            option, takes_value = word, True
        elif word.startswith("-") and word != "-":
            option = ""
        elif option and (word == "-" or os.path.exists(word)):
            read.append(option)
        read.append(word)
    return read


def _named(record: str) -> str:
    """`--draws N` in place of `--draws <int range>`."""
    for kind, name in _KINDS.items():
        if record.endswith(f" {kind}"):
            return record.removesuffix(kind) + name
    return record
