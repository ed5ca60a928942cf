"""`nlgauge meta --spans`: marked errors compared with those that people marked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, cast

from nlgauge.cli import judged, options
from nlgauge.cli.terminal import as_typed
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.marks import Explanations
from nlgauge.core.segment import Dataset, Segment, of_groups, take_as_reference
from nlgauge.io.files import InputFile
from nlgauge.io.marked import MarkedText, read_marked
from nlgauge.metaeval.evaluate import MetaOptions
from nlgauge.metaeval.spans import SPAN_METHODS, Missing, SpanMethod, SpanReferences, evaluate_spans, marks_by
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.explaining import HEAD

_SHARED = ("references", "missing", "exclude", "draws", "adjust")  # of the options about agreement
_IDLE = "is about scores of metrics, and --spans compares marked errors"
_EVERYTHING = "everything"
_HEAD = ".safetensors"


@dataclass(frozen=True)
class Spanned:
    """Marked errors against those of people, instead of scores against ratings."""

    spans: Annotated[
        list[str] | None,
        options.choice(
            "--spans",
            among=SPAN_METHODS,
            metavar="METHOD|NAME=FILE",
            help=(
                "Instead: compare errors by their place with those of people in DATA or --judgements. Methods spans,"
                " words, everything (baseline); a file of marks; a head.  Repeat for several."
            ),
        ),
    ] = None

    def check(self, typed: Mapping[str, object], how: MetaOptions, *groups: object) -> None:
        """Refuse options that change nothing beside --spans.

        Args:
            typed: option -> its value.
            how: options about agreement, some of which are about marks, too.
            groups: groups of options, all of which are about scores.
        """
        others = options.changed(how, *(name for name in options.flags_of(how) if name not in _SHARED))
        for group in groups:
            others |= options.changed(group, *options.flags_of(group))
        options.refuse_idle({**typed, **others}, _IDLE)

    def run(
        self,
        data: str,
        judgements: str | None,
        columns: list[str] | None,
        lps: list[str] | None,
        reference_system: str | None,
        how: MetaOptions,
        shown: options.Shown,
        files: options.Files,
        run: options.Common,
    ) -> int:
        """Read the marks of people and of methods, compare them, and show the result.

        Args:
            data, judgements: the texts; and where people's marks are, if not there.
            columns, lps, reference_system: of the texts.
            how, shown, files, run: as for the verb.
        """
        asked = _asked(self.spans or [])
        given = [path for path in asked.values() if path is not None]
        files.check([data, *([] if judgements is None else [judgements]), *given])
        people = _of_groups(_people(data, judgements), lps)
        texts = Texts(data, people, columns, lps, reference_system)
        heard = [name for name, path in asked.items() if path is None or path.endswith(_HEAD)]
        if not [name for name in heard if name != _EVERYTHING]:
            idle = {"references": how.references, "reference_system": reference_system, "columns": columns}
            options.refuse_idle(idle, "is about texts that methods read, and only files of marks are compared")
        runtime = run.runtime(cached=False)
        stored = {name: read_marked(path) for name, path in asked.items() if path is not None and name not in heard}
        marks: dict[str, list[MarkedText] | Explanations] = {  # files first: what they lack costs no model's time
            name: stored[name] if name in stored else texts.marked(name, path, how, runtime)
            for name, path in asked.items()
        }
        read = [data] if judgements is None else [judgements]
        entries = [*(dict(InputFile(path).entry) for path in read), *texts.entries]
        entries += [dict(InputFile(path).entry) for path in given]
        rated = {text.system for text in people if text.system is not None}
        left_out = [*(how.exclude or []), *sorted(rated & {reference_system})]
        found = evaluate_spans(
            people,
            marks,
            exclude=left_out,
            missing=cast(Missing, how.missing),  # checked there
            adjust=how.adjust,
            draws=how.draws or 1000,
            seed=run.seed,
        )
        result = as_typed(found.result(_once(entries)))
        files.write_segments(found.columns, shown.spreadsheet)
        files.write(result)
        if not files.printed:
            shown.show(result, run.quiet)
        return 0


@dataclass(frozen=True)
class Texts:
    """The texts that methods read, which are read when the first one asks for them.

    Attributes:
        data: the file or folder.
        people: the texts in which people marked errors; no other is read.
        columns, lps, reference_system: as typed.
        entries: the files that were read.
    """

    data: str
    people: Sequence[MarkedText]
    columns: list[str] | None
    lps: list[str] | None
    reference_system: str | None
    entries: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def dataset(self) -> Dataset:
        """The texts of the file with their references."""
        dataset, entries = judged.read_data(self.data, columns=self.columns)
        self.entries.extend(entries)
        dataset = of_groups(dataset, self.lps) if self.lps else dataset
        if self.reference_system is not None:
            dataset = take_as_reference(dataset, self.reference_system)
        wanted = {text.id for text in self.people} | {(text.system, text.item) for text in self.people}
        kept = (one for one in dataset if one.id in wanted or (one.system, one.item) in wanted)
        return Dataset(tuple(kept), dataset.name)

    def marked(self, name: str, head: str | None, how: MetaOptions, runtime: Runtime) -> Explanations:
        """What a method marks in them."""
        if name == _EVERYTHING and head is None and all(text.hypothesis is not None for text in self.people):
            return marks_by("everything", _dataset(self.people))
        kept = tuple(one for one in self.dataset if one.system not in (how.exclude or []))
        return marks_by(
            cast(SpanMethod, "spans" if head is not None else name),
            Dataset(kept, self.dataset.name),
            references=cast(SpanReferences, how.references or "own"),  # checked there
            model=head or HEAD,
            runtime=runtime,
        )


def _asked(typed: Sequence[str]) -> dict[str, str | None]:
    """Method -> its file; None for a method that is run on the spot."""
    found: dict[str, str | None] = {}
    for word in typed:
        name, sign, path = word.partition("=")
        if not name or (sign and not path) or (not sign and name not in SPAN_METHODS):
            raise InputError(
                f"--spans {word!r:.80}{nearest(word, SPAN_METHODS)}; expected {', '.join(SPAN_METHODS)}, or NAME=FILE"
            )
        if name in found:
            raise InputError(f"--spans names {name!r} twice, expected a name of its own for each")
        found[name] = path if sign else None
    return found


def _people(data: str, judgements: str | None) -> list[MarkedText]:
    if judgements is None and os.path.isdir(data):
        raise InputError(f"{data} is a folder of texts; name the file with the marks of people: --judgements FILE")
    return read_marked(judgements or data)


def _of_groups(people: list[MarkedText], lps: list[str] | None) -> list[MarkedText]:
    """The texts of some language pairs; those of a file that names none are all of one."""
    known = dict.fromkeys(text.group for text in people if text.group is not None)
    for name in lps or ():
        if known and name not in known:
            raise InputError(f"no marked text is of language pair or task {name!r}{nearest(name, known)}")
    return [text for text in people if not lps or text.group is None or text.group in lps]


def _dataset(people: Sequence[MarkedText]) -> Dataset:
    """The marked texts themselves, each once however many people marked it."""
    once = {text.key: text for text in people}
    return Dataset(
        tuple(
            Segment("\t".join(key), text.hypothesis or "", system=text.system, item=text.item)
            for key, text in once.items()
        )
    )


def _once(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({entry["path"]: entry for entry in entries}.values())
