"""Make a suite of a named kind from a data set: a checklist, or MENLI's attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.audits.anchors import Field
from nlgauge.audits.checklist import perturbed_suite, rows_for
from nlgauge.audits.menli import Paraphrases, menli_suite
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.suite import Suite
from nlgauge.io.frames import dataset_of
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.text.languages import Language

KINDS: Mapping[str, str] = {
    "checklist": "Sai et al. (2021): every row of a task; the drops of metrics against human penalties",
    "menli": "Chen and Eger (2023): 12 attacks; a paraphrase of the reference against the reference with an error",
}


def suite(
    kind: str,
    dataset: Dataset | Frame,
    *,
    seed: int = 0,
    task: str | None = None,
    criterion: str | None = None,
    perturbations: Sequence[str] = (),
    field: Field | None = None,
    paraphrases: Paraphrases | None = None,
    how: str = "max_edit_distance",
    limit: int | None = None,
    legacy_join: bool = False,
    language: str | Language = "builtin",
    scripts: LanguageCheck = "note",
    columns: Mapping[str, str] | None = None,
) -> Suite:
    """Make a suite from data: pairs of texts, and counts of the texts that a perturbation did not apply to, by reason.

    Args:
        kind: `checklist` or `menli`.
        dataset: the texts, also as a frame. If several systems share an item, its references are taken only once.
        seed: each random draw is seeded by this number, the perturbation and the segment's id.
        task: `mt`, `as`, `qg`, `dg`, `ic`, `d2t` or a longer name. If None, it is read from the data's `task`.
        criterion: for `checklist`: take only the rows of this criterion.
        perturbations: take only these. Any perturbation may be named, with options.
        field: the text to perturb: `ref` (the first reference) or `hyp`. If None, `ref` if there are references.
        paraphrases: for `menli`: where paraphrases of references come from: a table, a function, or an object with
            `paraphrase(texts)`. If None, from the other references of an item, or else by rule ("light").
        how: for `menli`: which paraphrase is taken if there are several: `max_edit_distance`, `given` or `first`.
        limit: take at most this many texts, drawn at random with the seed.
        legacy_join: write perturbed texts as tokens joined by blanks, as the released code of the checklists does.
        language: the backend that analyses texts.
        scripts: texts in scripts that perturbations do not read: `note`, refuse (`strict`) or `off`.
        columns: which column of a frame holds which field, as in `nlgauge.read`.

    Raises:
        InputError: there is no text to perturb, or no perturbation applies.
        SpecError: the kind, task, criterion or a perturbation is unknown.
    """
    dataset = dataset if isinstance(dataset, Dataset) and columns is None else dataset_of(dataset, columns)
    shared: dict[str, Any] = {"seed": seed, "limit": limit, "language": language, "scripts": scripts}
    if kind == "menli":
        of_checklists = {"criterion": criterion, "field": field if field != "ref" else None, "legacy_join": legacy_join}
        for name, value in of_checklists.items():
            if value:
                raise InputError(f"{name} goes with suite 'checklist'; 'menli' attacks references, and has no criteria")
        of_menli: dict[str, Any] = {"perturbations": perturbations, "paraphrases": paraphrases, "how": how}
        return menli_suite(dataset, task=task, **of_menli, **shared)
    if kind != "checklist":
        raise SpecError(f"unknown suite {kind!r}{nearest(kind, KINDS)}")
    if paraphrases is not None:
        raise InputError("paraphrases go with suite 'menli'; a checklist compares each text with itself")
    rows = rows_for(dataset, task, criterion, perturbations)
    return perturbed_suite(dataset, rows, field=field, legacy_join=legacy_join, **shared)
