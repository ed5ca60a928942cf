"""Markdown of the pages that are made: tables, lists, paragraphs, and docstrings as blocks of them.

`reference.py` and `perturbation_pages.py` make their pages of these.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

MARK = "<!-- Made by recipes/tools/reference.py. -->"
FEW = 6  # words that are said again rather than looked up
SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "References")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars and line breaks in cells are kept from ending them."""
    shown = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", " ".join(cell.split())) for cell in line) + " |"
        for line in shown
    )


def items(rows: Iterable[Sequence[str]]) -> str:
    """A list of options or fields, each with what stands in brackets behind it, and what it means."""
    return "\n".join(
        f"- {name}{f' ({about})' if about else ''}: {' '.join(meaning.split())}" for name, about, meaning in rows
    )


class Told:
    """Options or fields of several entries (metrics, verbs, kinds of results), of which each is explained once.

    What several have is explained in one place; what two more have in the same words, but under a name that stands
    there with another meaning, at the first that has it.

    Args:
        entries: title of an entry -> its rows: name, what stands in brackets behind it, meaning.
        several: how many entries must have a name with one meaning.
        pages: whether each entry stands on a page of its own; else all stand on one.
    """

    def __init__(
        self, entries: Mapping[str, Iterable[Sequence[str]]], *, several: int = 2, pages: bool = False
    ) -> None:
        self.entries = {title: [tuple(row) for row in rows] for title, rows in entries.items()}
        self.pages = pages
        self.first: dict[tuple[str, str], str] = {}
        for title, rows in self.entries.items():
            for name, _, meaning in rows:
                self.first.setdefault((name, meaning), title)
        counts = Counter((name, meaning) for rows in self.entries.values() for name, _, meaning in rows)
        self.shared: dict[str, tuple[str, str]] = {}
        for (name, meaning), n in counts.most_common():
            if n >= several and name not in self.shared:
                abouts = [row[1] for rows in self.entries.values() for row in rows if row[::2] == (name, meaning)]
                self.shared[name] = (Counter(abouts).most_common(1)[0][0], meaning)

    def head(self) -> str:
        """What several have."""
        return items((name, *told) for name, told in self.shared.items())

    def own(self, title: str, place: str, rows: Iterable[Sequence[str]] | None = None) -> str:
        """What is an entry's own, and the names of what it shares, with the place that has these.

        Args:
            title: the entry.
            place: where what several have is explained.
            rows: those of its rows that are listed; None for all.
        """
        own, names = [], []
        for name, about, meaning in self.entries[title] if rows is None else rows:
            shared = self.shared.get(name, ("", ""))
            if shared[1] == meaning:
                known = _long(name) if sum(_long(one) == _long(name) for one in self.shared) == 1 else name
                names.append(known + (f" ({about})" if about != shared[0] else ""))
            elif (first := self.first[name, meaning]) != title and len(meaning.split()) > FEW:
                there = f"{first.split()[0]}.md" if self.pages else f"#{anchor(first)}"
                own.append((_long(name), about, f"as in [`{first}`]({there})."))
            else:
                own.append((name, about, meaning))
        also = textwrap.fill(
            f"- [of several]({place}): {', '.join(names)}", 120, break_long_words=False, break_on_hyphens=False,
            subsequent_indent="  ",
        )  # fmt: skip
        return "\n".join(filter(None, [items(own), also if names else ""]))


def _long(name: str) -> str:
    """The long name of an option, without what it takes."""
    found = re.match(r"`(?:-\w, )?(--[\w-]+)", name)
    return f"`{found[1]}`" if found else name


def page(title: str, *parts: str) -> str:
    """A page with its title; empty parts are left out, and long paragraphs become lines."""
    shown = [part.strip("\n") for part in parts if part.strip()]
    return "\n\n".join([f"# {title}", MARK, *(part if "\n" in part else lines(part) for part in shown)]) + "\n"


def lines(paragraph: str) -> str:
    """A paragraph in lines of at most 120 characters; a row of a table and code stay as they are."""
    if paragraph.startswith(("|", "    ", "#")):
        return paragraph
    return textwrap.fill(paragraph, 120, break_long_words=False, break_on_hyphens=False)


def prose(docstring: str) -> Iterator[str]:
    """A docstring as blocks of Markdown: sections with names become lists."""
    for block in re.split(r"\n(?=(?:" + "|".join(SECTIONS) + r"):\n)", docstring):
        head, _, rest = block.partition(":\n")
        if head not in SECTIONS:
            yield from (part if part.startswith("    ") else plain(part) for part in block.strip("\n").split("\n\n"))
            continue
        yield f"**{head}**"
        items = [re.sub(r"\s+", " ", item) for item in re.split(r"\n    (?=\S)", "\n" + rest.rstrip())[1:]]
        if head in ("Args", "Attributes", "Raises"):
            yield "\n".join("- " + re.sub(r"^([\w*, ]+):", r"`\1`:", plain(item)) for item in items)
        else:
            yield plain(" ".join(items))


def plain(text: str) -> str:
    """Text in which Markdown finds no markup but code between backticks."""
    parts = text.split("`")
    parts[::2] = [part.replace("*", r"\*").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def body(docstring: str | None) -> list[str]:
    """The paragraphs between the summary of a docstring and its sections."""
    text = inspect.cleandoc(docstring or "")
    text = re.split(r"\n(?=(?:" + "|".join(SECTIONS) + r"):\n)", text)[0]
    return [part if part.startswith("    ") else plain(part) for part in text.split("\n\n")[1:]]


def section(docstring: str | None, name: str) -> str:
    """A section of a docstring, its paragraphs kept; empty if it has none."""
    text = inspect.cleandoc(docstring or "")
    found = re.search(rf"^{name}:\n((?:    .*\n?|\n(?=    ))*)", text + "\n", flags=re.M)
    return inspect.cleandoc("\n" + found[1]) if found else ""


def arguments(cls: type) -> dict[str, str]:
    """Option -> what it does, from the class or its bases."""
    found: dict[str, str] = {}
    for base in cls.__mro__:
        entries = re.findall(r"^(\w+(?:, \w+)*): (.*(?:\n    .*)*)", section(base.__doc__, "Args"), flags=re.M)
        for names, what in entries:
            for name in names.split(", "):
                found.setdefault(name, " ".join(what.split()))
    return found


def attributes(cls: type) -> dict[str, str]:
    """Attribute -> what it is, from the class."""
    found = re.findall(r"^(\w+(?:, \w+)*): (.*(?:\n    .*)*)", section(cls.__doc__, "Attributes"), flags=re.M)
    return {name: " ".join(what.split()) for names, what in found for name in names.split(", ")}


def sentence(text: str) -> str:
    """Words that begin with a capital and end in a full stop."""
    text = text.strip().rstrip(".")
    is_name = "_" in text.partition(" ")[0] or "(" in text.partition(" ")[0]
    end = "" if text.endswith("?") else "."
    return f"{text if is_name else text[:1].upper() + text[1:]}{end}" if text else ""


def anchor(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
