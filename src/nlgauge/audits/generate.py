"""Suites made from a data set: each row of a checklist, or each attack of MENLI, put to its texts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nlgauge.audits.menli import Given, menli_suite
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import Design, Pair, Skipped, Suite
from nlgauge.perturbations.base import Case, Inapplicable, Perturbed, stream
from nlgauge.perturbations.checklist import ChecklistRow, select_rows, task_of
from nlgauge.perturbations.perturb import apply, make_cases
from nlgauge.perturbations.registry import perturbation
from nlgauge.text.languages import Language

Field = Literal["ref", "hyp"]
KINDS: Mapping[str, str] = {
    "checklist": "Sai et al. (2021): every row of a task; drops against human penalties",
    "menli": "Chen and Eger (2023): 12 attacks; a paraphrase of the reference against the reference with an error",
}


@dataclass(frozen=True)
class Anchor:
    """A text to perturb, with the segment that it is from."""

    segment: Segment
    text: str
    others: tuple[str, ...]


def suite(
    kind: str,
    dataset: Dataset,
    *,
    seed: int = 0,
    task: str | None = None,
    criterion: str | None = None,
    perturbations: Sequence[str] = (),
    field: Field | None = None,
    paraphrases: Given | None = None,
    how: str = "max_edit_distance",
    limit: int | None = None,
    legacy_join: bool = False,
    language: str | Language = "builtin",
) -> Suite:
    """Make a suite from data.

    Args:
        kind: `checklist` or `menli`.
        dataset: the texts; of several systems on one item the references are taken once.
        seed: of everything drawn; with the perturbation and the segment's id it makes the draws.
        task: `mt`, `as`, `qg`, `dg`, `ic`, `d2t` or a longer name; told from the data's `task` if None.
        criterion: checklist: only rows of this one.
        perturbations: only these; any perturbation may be named, with options.
        field: what is perturbed: `ref` (the first reference) or `hyp`; `ref` where there are references if None.
        paraphrases: menli: where paraphrases of references come from: a table, a function, or an object with
            `paraphrase(texts)`. If None, the other references of an item, else small changes by rule (labelled light).
        how: menli: which of several paraphrases: `max_edit_distance`, `given` or `first`.
        limit: at most so many texts, drawn by the seed.
        legacy_join: write perturbed texts as tokens joined by blanks, as the released code of the checklists does.
        language: the backend that analyses texts.

    Returns:
        Pairs, and what did not apply by reason.

    Raises:
        InputError: no text to perturb, or nothing that applies.
        SpecError: an unknown kind, task, criterion or perturbation.
    """
    if kind == "menli":
        idle = {"criterion": criterion, "field": field if field != "ref" else None, "legacy_join": legacy_join}
        for name, value in idle.items():
            if value:
                raise InputError(f"{name} goes with suite 'checklist'; 'menli' attacks references, and has no criteria")
        return menli_suite(
            dataset,
            seed=seed,
            task=task,
            perturbations=perturbations,
            paraphrases=paraphrases,
            how=how,
            limit=limit,
            language=language,
        )
    if kind != "checklist":
        raise SpecError(f"unknown suite {kind!r}{nearest(kind, KINDS)}")
    if paraphrases is not None:
        raise InputError("paraphrases go with suite 'menli'; a checklist holds a text against itself")
    told = task or task_in(dataset)
    rows = _rows(told, criterion, perturbations)
    return perturbed_suite(
        dataset, rows, seed=seed, field=field, limit=limit, legacy_join=legacy_join, language=language
    )


def perturbed_suite(
    dataset: Dataset,
    rows: Sequence[ChecklistRow],
    *,
    seed: int = 0,
    field: Field | None = None,
    limit: int | None = None,
    legacy_join: bool = False,
    language: str | Language = "builtin",
) -> Suite:
    """Pairs of each text before and after each perturbation; arguments as for `suite`. Rows without a task make a preference suite."""
    found = anchors(dataset, field, limit, seed)
    cases = cases_of(found, language)
    built = {row.template: perturbation(row.template) for row in rows}
    pairs: list[Pair] = []
    skipped: Counter[tuple[ChecklistRow, str]] = Counter()
    for anchor, case in zip(found, cases, strict=True):
        outcomes: dict[str, Perturbed | Inapplicable] = {}
        for row in rows:
            if row.template not in outcomes:
                outcomes[row.template] = apply(built[row.template], case, seed)
            outcome = outcomes[row.template]
            if isinstance(outcome, Inapplicable):
                skipped[row, outcome.reason] += 1
            else:
                pairs.append(_pair(anchor, row, outcome, case if legacy_join else None))
    notes = (
        ["perturbed texts are tokens joined by blanks (legacy_join), as the released code writes them"]
        if legacy_join
        else []
    )
    left = [
        Skipped(perturbation=row.template, reason=reason, n=n, task=row.task or None, criterion=row.criterion or None)
        for (row, reason), n in skipped.items()
    ]
    design: Design = "checklist" if rows and all(row.task for row in rows) else "preference"
    return Suite(tuple(pairs), dataset.name, design, left, (*dataset.notes, *notes))


def anchors(dataset: Dataset, field: Field | None = None, limit: int | None = None, seed: int = 0) -> list[Anchor]:
    """The texts to perturb: of each item the first reference once, or every hypothesis.

    Raises:
        InputError: references are asked for and there are none; no text at all.
    """
    if field not in (None, "ref", "hyp"):
        raise InputError(f"field is {field!r}, expected ref or hyp")
    wanted = field or ("ref" if any(s.references for s in dataset) else "hyp")
    found: dict[tuple[str, str], Anchor] = {}
    for s in dataset:
        texts = s.references if wanted == "ref" else (s.hypothesis,)
        if texts:
            others = s.references[1:] if wanted == "ref" else s.references
            key = (s.item or s.id, texts[0]) if wanted == "ref" else (s.id, "")
            found.setdefault(key, Anchor(s, texts[0], others))
    if not found:
        raise InputError(
            f"{dataset.name or 'the data'}: no segment has a reference; perturb the hypotheses (field hyp)"
        )
    kept = list(found.values())
    if limit is not None and limit < len(kept):
        rng = stream(seed, "limit", dataset.name)
        kept = [kept[i] for i in sorted(rng.sample(range(len(kept)), limit))]
    return kept


def cases_of(found: Sequence[Anchor], language: str | Language) -> list[Case]:
    """A case for each text, with the other texts to draw from and what its segment knows of dialogue and references."""
    return make_cases(
        [a.text for a in found],
        ids=[a.segment.id for a in found],
        context=[a.segment.context for a in found],
        pool=list(dict.fromkeys(a.text for a in found)),
        references=[a.others for a in found],
        backend=language,
    )


def distinct(perturbations: Sequence[str]) -> Sequence[str]:
    """Names of perturbations as they are.

    Raises:
        SpecError: one of them twice.
    """
    twice = next((spec for i, spec in enumerate(perturbations) if spec in perturbations[:i]), None)
    if twice is not None:
        raise SpecError(f"perturbation {twice!r} is named twice")
    return perturbations


def task_in(dataset: Dataset) -> str:
    """The task that the data name as their group.

    Raises:
        SpecError: no task, an unknown one, or several.
    """
    told: dict[str, str] = {}
    for group in dataset.groups:
        try:
            told.setdefault(task_of(group or ""), group or "")
        except SpecError:
            continue
    if len(told) != 1:
        which = f"the data name {', '.join(told.values())}" if told else "the data name none"
        raise SpecError(f"no task is given and {which}; choose one of mt, as, qg, dg, ic, d2t (--task mt)")
    return next(iter(told))


def _rows(task: str, criterion: str | None, perturbations: Sequence[str]) -> list[ChecklistRow]:
    rows = list(select_rows(task, criterion))
    if not perturbations:
        return rows
    out = []
    for spec in distinct(perturbations):
        name = perturbation(spec).info.name
        own = [row for row in rows if row.template == name]
        if not own:
            raise SpecError(
                f"no row {name!r} in the checklist of {task!r}{nearest(name, {row.template for row in rows})}"
            )
        out += [dataclasses.replace(row, template=spec) for row in own]
    return out


def _pair(anchor: Anchor, row: ChecklistRow, outcome: Perturbed, joined: Case | None) -> Pair:
    text = outcome.text
    if joined is not None:
        text = " ".join(t.text for t in joined.language.analyse(text).tokens)
    s = anchor.segment
    return Pair(
        id="/".join(part for part in (s.id, row.criterion, row.template) if part),
        phenomenon=row.template,
        better=anchor.text,
        worse=text,
        references=(anchor.text,),
        source=s.source,
        expect=outcome.expect,
        task=row.task or None,
        criterion=row.criterion or None,
        group=s.group,
        context=tuple(s.context),
        meta={**outcome.meta, "edits": [list(e) for e in outcome.edits]},
    )
