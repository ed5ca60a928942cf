"""Read suites of pairs: published ones and those of this package. The layout of a file is recognised."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, Frame, Segment, is_frame
from nlgauge.core.suite import Pair, Suite
from nlgauge.io.files import InputFile
from nlgauge.io.suites.published import PUBLISHED, Maker, pairs_made, read_published, with_origin
from nlgauge.io.suites.rows import Cells, SuiteRows, layout_of, pair_of, phenomenon_of

LAYOUTS: Mapping[str, str] = {
    "pairs": (
        "JSON lines, TSV, CSV: better and worse (texts), perhaps id, phenomenon, criterion, task, src, ref or refs,"
        " group, expect"
    ),
    "id-pairs": "JSON lines, TSV, CSV: better_id and worse_id, joined with a file of segments",
    "adversarial": "JSON lines: ref, cand_para, cand_adv_ref, and src, cand_adv_src for metrics without references",
    "menli": "CSV of MENLI: error, source, ref, r, hyp_para, hyp_adv_based, hyp_adv_free; also data_fixed_strict.csv",
    "paws": "TSV of PAWS and PAWS-X: sentence1, sentence2, label; pairs of rows that share sentence1",
    "rank19": (
        "JSON of Falke et al., a list: article_sent, correct_sent, incorrect_sent; or segments of the systems correct"
        " and incorrect"
    ),
    **{name: entry.about for name, entry in PUBLISHED.items()},
}


def read_suite(
    path: str | os.PathLike[str] | Frame,
    segments: Dataset | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Suite:
    """Read all pairs of a file or a frame. The layout is recognised by the fields of the first row.

    Args:
        path: JSON lines, JSON (a list), TSV or CSV, plain or `.gz`; or a frame with one row per pair.
        segments: the segments that the ids of an `id-pairs` file refer to.
        layout: one of `LAYOUTS`. If None, it is found from the fields of the first row. With the name of a published
            suite, such as `demetr`, `path` may also be the folder of its files, and an audit adds its statistic.
        columns: which field of the rows holds which field of a pair, where names differ: `{"better": "good"}`.

    Raises:
        InputError: the layout is unknown, a row lacks a field of its layout, or no segment has an id.
    """
    if layout is not None and layout not in LAYOUTS:
        raise InputError(f"unknown layout {layout!r}{nearest(layout, LAYOUTS)}")
    if layout is not None and layout in PUBLISHED:
        return read_published(layout, path, columns)[0]
    is_path = isinstance(path, str | os.PathLike)
    rows = SuiteRows(path if not is_path and is_frame(path) else InputFile(path))
    rows.rename(columns or {})
    first = next(iter(rows), None)
    if first is None:
        raise InputError(f"{rows.name} is empty: no pair in it")
    chosen = layout or layout_of(first[1], rows.name)
    if layout is None and chosen == "pairs" and segments is not None:
        known = {s.id for s in segments}  # ids may be named as texts are
        chosen = "id-pairs" if all(first[1].text(side) in known for side in ("better", "worse")) else chosen
    if segments is not None and chosen != "id-pairs":
        rows.told.append(f"{rows.name} holds texts of its own; the segments beside it are not used")
    if not columns:
        rows.refuse = rows.faults.add
    pairs = list(_READERS[chosen](rows, segments))
    rows.faults.check()
    if not pairs:
        raise InputError(f"{rows.name}: no pair in it, read as {chosen}" + (f"; {rows.told[0]}" if rows.told else ""))
    return Suite(tuple(pairs), rows.name, notes=tuple(rows.notes()))


def suite_of(suite: Suite | Frame, columns: Mapping[str, str] | None = None) -> Suite:
    """A suite as it is, or the pairs of a frame; `columns` as for `read_suite`. What is neither is refused."""
    if is_frame(suite):
        return read_suite(suite, columns=columns)
    if columns is not None:
        raise InputError("columns are named for a frame; a Suite has none")
    if not isinstance(suite, Suite):
        raise InputError(
            f"expected a Suite or a frame of pairs, got {type(suite).__name__}; nlgauge.suite makes one of texts that"
            " nlgauge.read reads, and nlgauge.read_suite reads one"
        )
    return suite


_Reader = Callable[[SuiteRows, Dataset | None], Iterator[Pair]]


def _pairs(rows: SuiteRows, segments: Dataset | None) -> Iterator[Pair]:
    seen: dict[str, str] = {}
    for number, (place, row) in enumerate(rows, start=1):
        with rows.faults.row(place):
            pair = pair_of(row, str(number))
            first = seen.setdefault(pair.id, place)
            if first != place:
                raise InputError(f"{place}: duplicate pair {pair.id!r}, first at {first}; ids must be unique")
            yield pair


def _id_pairs(rows: SuiteRows, segments: Dataset | None) -> Iterator[Pair]:
    """The pairs of segments that `better_id` and `worse_id` name (or `better` and `worse`).

    Give the segments, too: `nlgauge audit SEGMENTS --suite FILE`. The two segments of a pair must have one source and
    the same references.
    """
    if segments is None:
        raise InputError(
            f"{rows.name} names segments by id; give the file with the segments, too (audit SEGMENTS --suite"
            f" {rows.name})"
        )
    table = {s.id: s for s in segments}
    for number, (place, row) in enumerate(rows, start=1):
        sides: list[Segment] = []
        for side in ("better", "worse"):
            wanted = row.text(f"{side}_id") or row.needed(side)
            if wanted not in table:
                where = segments.name or "the segments"
                raise InputError(
                    f"{place}: {side} is segment {wanted!r}, which is not in {where}{nearest(wanted, table)}"
                )
            sides.append(table[wanted])
        better, worse = sides
        for what in ("references", "source"):
            one, other = getattr(better, what), getattr(worse, what)
            if one and other and one != other:
                raise InputError(
                    f"{place}: better {better.id!r} and worse {worse.id!r} have other {what}, expected two outputs for"
                    " one item"
                )
        named = pair_of(Cells({**row, "better": better.hypothesis, "worse": worse.hypothesis}, place), str(number))
        yield replace(
            named,
            references=better.references,
            source=better.source,
            group=named.group or better.group,
            context=better.context,
            cluster=named.cluster or better.item,
        )


def _adversarial(rows: SuiteRows, segments: Dataset | None) -> Iterator[Pair]:
    """Pairs of MENLI in JSON lines: `ref`, `cand_para`, `cand_adv_ref`, and `src`, `cand_adv_src`.

    The last two are for metrics without references. `phenomenon`, `error`, `lp`, `id` and `origin_id` may stand beside
    them.
    """
    names = {"para": "cand_para", "ref": "cand_adv_ref", "src": "cand_adv_src", "source": "src", "group": "lp"}
    return _both_setups(rows, names, lambda row: row.text("error") or row.text("phenomenon"), "phenomenon")


def _menli(rows: SuiteRows, segments: Dataset | None) -> Iterator[Pair]:
    """Pairs of MENLI's CSV: `error`, `source`, `ref`, `r`, `hyp_para`, `hyp_adv_based`, `hyp_adv_free`.

    With references, `hyp_para` should score higher than `hyp_adv_based`; with a source, `ref` should score higher than
    `hyp_adv_free`. Where the repaired columns `hyp_para_fixed` and `hyp_adv_based_fixed` are there
    (`data_fixed_strict.csv`), they are used, with a note.
    """
    fixed = rows.columns is not None and "hyp_adv_based_fixed" in rows.columns
    tail = "_fixed" if fixed else ""
    if fixed:
        rows.told.append(f"{rows.name}: the repaired columns hyp_para_fixed and hyp_adv_based_fixed are used")
    names = {
        "para": f"hyp_para{tail}",
        "ref": f"hyp_adv_based{tail}",
        "src": "hyp_adv_free",
        "source": "source",
        "group": "lp",
    }
    return _both_setups(rows, names, lambda row: row.text("error"), "error")


def _both_setups(
    rows: SuiteRows, names: Mapping[str, str], error: Callable[[Cells], str | None], kind: str
) -> Iterator[Pair]:
    """The pairs of MENLI, for metrics with references and for metrics with a source.

    With references, the paraphrase should score higher than the perturbed reference. With a source, the reference
    should score higher than the perturbed translation.
    """
    made: dict[str, int] = {}
    for number, (_, row) in enumerate(rows, start=1):
        own = error(row)
        phenomenon = phenomenon_of(row.text(kind) or own or "pair")
        base = row.text("id") or str(number)
        made[f"{base}\0{phenomenon}"] = again = made.get(f"{base}\0{phenomenon}", 0) + 1
        unique = f"{phenomenon}.{base}" + (f".{again}" if again > 1 else "")
        common: dict[str, Any] = {
            "phenomenon": phenomenon,
            "group": row.text(names["group"]),
            "error": own,
            "cluster": row.text("origin_id"),
        }
        ref, source = row.needed("ref"), row.text(names["source"])
        if row.text(names["para"]) is not None and row.text(names["ref"]) is not None:
            yield Pair(
                id=f"{unique}.ref",
                better=row.needed(names["para"]),
                worse=row.needed(names["ref"]),
                references=(ref,),
                source=source,
                setup="ref",
                **common,
            )
        if source is not None and row.text(names["src"]) is not None:
            yield Pair(
                id=f"{unique}.src", better=ref, worse=row.needed(names["src"]), source=source, setup="src", **common
            )


def _paws(rows: SuiteRows, segments: Dataset | None) -> Iterator[Pair]:
    """Make pairs from PAWS or PAWS-X: a paraphrase and a non-paraphrase of the same sentence.

    The columns are `sentence1`, `sentence2` and `label` (1 is a paraphrase). Rows that share `sentence1` make pairs;
    sentences with rows of one kind alone make none, and a note counts them. Read those as segments for `nlgauge meta
    --stat auc`, or as paraphrases for `nlgauge audit --suite menli:paraphrases=FILE`.
    """
    sides: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {}
    alone = 0
    for number, (place, row) in enumerate(rows, start=1):
        label = str(row.get("label")).strip()
        if label not in ("0", "1"):
            raise InputError(f"{place}: field 'label' is {label!r}, expected 0 or 1")
        entry = (row.text("id") or str(number), row.needed("sentence2"))
        sides.setdefault(row.needed("sentence1"), ([], []))[int(label)].append(entry)
    for sentence, (no, yes) in sides.items():
        alone += not (no and yes)
        for better_id, better in yes:
            for worse_id, worse in no:
                yield Pair(
                    id=f"{better_id}>{worse_id}", phenomenon="paws", better=better, worse=worse, references=(sentence,)
                )
    if alone:
        rows.told.append(
            f"{rows.name}: {alone} sentences have only paraphrases or only others, which makes no pair; read them as"
            " segments for 'meta --stat auc', or as paraphrases for 'audit --suite menli:paraphrases=FILE'"
        )


def _rank19(rows: SuiteRows, segments: Dataset | None) -> Iterator[Pair]:
    """Pairs of Falke et al. (2019): a JSON list with `article_sent`, `correct_sent`, `incorrect_sent`.

    Or segments of two systems, `correct` and `incorrect`, one of each for every `seg`.
    """
    held: dict[str, dict[str, Cells]] = {}
    for number, (place, row) in enumerate(rows, start=1):
        if "correct_sent" in row:
            yield Pair(
                id=row.text("id") or str(number),
                phenomenon="factuality",
                better=row.needed("correct_sent"),
                worse=row.needed("incorrect_sent"),
                source=row.text("article_sent") or row.needed("src"),
                task="as",
                error="rank19",
            )
            continue
        system = row.needed("system")
        if system not in ("correct", "incorrect"):
            raise InputError(
                f"{place}: system is {system!r}, expected correct or incorrect (one of each for every seg)"
            )
        first = held.setdefault(row.needed("seg"), {}).setdefault(system, row)
        if first is not row:
            raise InputError(f"{place}: a second {system} sentence for seg {row['seg']!r}; the first is {first.place}")
    for item, two in held.items():
        if len(two) < 2:
            rows.told.append(f"{rows.name}: {item} has no {'incorrect' if 'correct' in two else 'correct'} sentence")
            continue
        better, worse = two["correct"], two["incorrect"]
        yield Pair(
            id=item,
            phenomenon="factuality",
            better=better.needed("hyp"),
            worse=worse.needed("hyp"),
            references=better.references(),
            source=better.text("src"),
            task="as",
            error="rank19",
        )


def _made_by(make: Maker) -> _Reader:
    """The reader of a published suite whose layout was recognised."""

    def read(rows: SuiteRows, segments: Dataset | None) -> Iterator[Pair]:
        return (with_origin(pair) for _, pair in pairs_made(rows, make)[0])

    return read


_READERS: Mapping[str, _Reader] = {
    "pairs": _pairs, "id-pairs": _id_pairs, "adversarial": _adversarial, "menli": _menli, "paws": _paws,
    "rank19": _rank19, **{name: _made_by(entry.make) for name, entry in PUBLISHED.items() if entry.make is not None},
}  # fmt: skip


def paraphrases_in(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read a table of paraphrases: text -> its paraphrases.

    Args:
        path: JSON lines, TSV or CSV with `text` and `paraphrase` (or `paraphrases`, a list). Or PAWS, of which the rows
            with label 1 are taken in both directions.

    Raises:
        InputError: the file has other fields, or no paraphrase.
    """
    file = InputFile(path)
    table: dict[str, list[str]] = {}
    for place, row in SuiteRows(file):
        if "sentence1" in row:
            if str(row.get("label", "1")).strip() == "1":
                one, other = row.needed("sentence1"), row.needed("sentence2")
                table.setdefault(one, []).append(other)
                table.setdefault(other, []).append(one)
            continue
        if "text" not in row or not {"paraphrase", "paraphrases"} & row.keys():
            raise InputError(
                f"{place}: expected 'text' and 'paraphrase' (or 'paraphrases'); fields found:"
                f" {', '.join(map(repr, row))}"
            )
        table.setdefault(row.needed("text"), []).extend(_listed(row, place))
    if not table:
        raise InputError(f"{file.name}: no paraphrase in it, expected 'text' and 'paraphrase'")
    return table


def _listed(row: Cells, place: str) -> Sequence[str]:
    given = row.get("paraphrases")
    if given is None:
        return [row.needed("paraphrase")]
    if not isinstance(given, list) or not all(isinstance(t, str) for t in given):
        raise InputError(f"{place}: field 'paraphrases' is {given!r:.60}, expected a list of strings")
    return given
