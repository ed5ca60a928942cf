"""Rows of published suites, in their authors' formats, and the pairs that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath

from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair
from nlgauge.io.suites.rows import Cells, phenomenon_of

Maker = Callable[[Cells, int, str], Pair | str]  # row, its number, name of the file -> pair, or why there is none

_HWTSC = {  # beginning of the name of a phenomenon -> ours
    "Number": "number_error",
    "Time & Date": "date_time",
    "Named Entity": "name_error",
    "Unit": "unit",
    "Affirmation/Negation": "negation",
}
_EDITS = {"antonym_swap": "antonyms", "negation_insertion": "negation"}  # names of SummEdits -> ours
CONSISTENT = "consistent_edit"  # an edit of SummEdits that keeps the facts
SEED = "which hold the seed summary itself: it is the better text of the other rows"


def hwtsc22(row: Cells, number: int, name: str) -> Pair | str:
    """A row of HW-TSC's TSV. Its header has `source` twice: the text, and where the text comes from."""
    label = row.needed("phenomena")
    known = next((ours for begin, ours in _HWTSC.items() if label.startswith(begin)), None)
    if known is None:
        raise InputError(f"{row.place}: phenomena is {label!r}, expected one that begins {', '.join(_HWTSC)}")
    return Pair(
        id=f"hwtsc22.{number - 1:03d}",
        phenomenon=known,
        better=row.needed("good-translation"),
        worse=row.needed("incorrect-translation"),
        references=(row.needed("reference"),),
        source=row.needed("source"),
        group="zh-en",
        error=label,
        meta={"origin": row.needed("source.2")},
    )


def aces(row: Cells, number: int, name: str) -> Pair | str:
    """A row of ACES."""
    phenomenon = row.needed("phenomena")
    return Pair(
        id=f"{row.text('id') or row.text('ID') or ''}:{number}".lstrip(":"),
        phenomenon=phenomenon_of(phenomenon),
        better=row.needed("good-translation"),
        worse=row.needed("incorrect-translation"),
        references=(row.needed("reference"),),
        source=row.text("source"),
        group=row.text("langpair"),
        error=phenomenon,
    )


def demetr(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of DEMETR, whose `pert_name` is as `critical_id8_negation`."""
    if row.get("pert_check") is False:
        return "which the authors found unperturbed (pert_check)"
    label = row.text("pert_name") or row.text("pert_desc") or "pair"
    if label.endswith("_reference"):  # the reference itself in place of a perturbed text: it is the better one
        return "which hold the reference as translation (a baseline)"
    severity, _, own = label.partition("_id")
    own = own.partition("_")[2] or label
    worse = row.get("pert_sent")
    return Pair(
        id=f"{label}.{row.get('id', number)}.{number}",
        phenomenon=phenomenon_of(own),
        better=row.needed("mt_sent"),
        worse=worse if isinstance(worse, str) else "",
        references=(row.needed("eng_sent"),),
        source=row.text("src_sent"),
        group=row.text("lang_tag"),
        error=label,
        meta={"severity": severity},
    )


def bump(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of BUMP. Task 1 has a prescribed error type, and a corrected one where it turned out to be another."""
    error = row.text("corrected_error_type") or row.needed("error_type")
    return Pair(
        id=f"{stem(name)}.{row.get('id', number - 1)}",
        phenomenon=error.removesuffix(" Error").lower().replace(" ", "_"),
        better=row.needed("reference_summary"),
        worse=row.needed("edited_summary"),
        source=row.needed("article"),
        task="as",
        error=error,
        cluster=row.text("article_id"),
    )


def summedits(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of SummEdits: an edit beside the seed summary that it was made from."""
    seed = row.text("original_summary") or row.needed("seed_summary")
    edited, label = row.needed("summary"), row.get("label")
    if label not in (0, 1):
        raise InputError(f"{row.place}: field 'label' is {label!r}, expected 1 (consistent) or 0")
    if edited == seed:
        return SEED
    kinds = row.get("edit_types") or []
    if not isinstance(kinds, Sequence) or isinstance(kinds, str):
        raise InputError(f"{row.place}: field 'edit_types' is {kinds!r:.40}, expected a list")
    kind = str(kinds[0]) if len(kinds) == 1 else "several_edits" if kinds else "other_edit"
    domain = row.text("domain") or stem(name).removeprefix("summedits_")
    return Pair(
        id=row.text("id") or f"{domain}.{number}",
        phenomenon=CONSISTENT if label else _EDITS.get(kind, kind),
        better=seed,
        worse=edited,
        source=row.needed("doc"),
        expect="same" if label else "lower",
        task="as",
        error="+".join(map(str, kinds)) or None,
        meta={"domain": domain},
    )


def fbi(row: Cells, number: int, name: str) -> Pair | str:
    """A row of FBI, with the columns that the evaluators of its authors read. File and folder name the error."""
    kind, ability = stem(name), PurePath(name).parent.name
    return Pair(
        id=f"{kind}.{row.text('cdx') or number}",
        phenomenon=kind.replace("-", "_"),
        better=row.needed("og"),
        worse=row.needed("perturbed_gpt4"),
        source=row.needed("question"),
        expect="same" if kind.replace("-", "_") == "score_invariant" else "lower",
        error=kind,
        meta={"ability": ability},
    )


def llmbar(row: Cells, number: int, name: str) -> Pair | str:
    """An entry of LLMBar. The folder of the file names the subset."""
    label = row.get("label")
    if label not in (1, 2):
        raise InputError(f"{row.place}: field 'label' is {label!r}, expected 1 or 2, the better output")
    subset = PurePath(name).parent.name or "pair"
    return Pair(
        id=f"llmbar.{subset}.{number - 1:03d}",
        phenomenon=subset,
        better=row.needed(f"output_{label}"),
        worse=row.needed(f"output_{3 - label}"),
        source=row.needed("input"),
        task="instruction",
        error=subset,
    )


def stem(name: str) -> str:
    """The name of a file without its folder and endings."""
    return PurePath(name).name.partition(".")[0]
