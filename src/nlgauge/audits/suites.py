"""Suites made from a data set: a checklist of perturbations, or MENLI's attacks on references."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from nlgauge.audits.preference import Anchor, Field, anchors, cases_of, distinct, script_notes
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.options import check_option
from nlgauge.core.segment import Dataset, Frame, Segment, repeated
from nlgauge.core.suite import Design, Pair, Setup, Skipped, Suite
from nlgauge.io.frames import dataset_of
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.perturbations.checklist import ChecklistRow, select_rows, task_of
from nlgauge.perturbations.paraphrase import How, LightParaphraser, Paraphraser, as_paraphraser, select_para
from nlgauge.perturbations.perturb import Case, Inapplicable, Perturbation, Perturbed, apply, make_cases, perturbation
from nlgauge.runtime.runtime import Runtime, silent
from nlgauge.text.languages import Language

_BUGS = 5  # told one by one; all are counted


def rows_for(
    dataset: Dataset, task: str | None, criterion: str | None, perturbations: Sequence[str]
) -> list[ChecklistRow]:
    """The rows of a task's checklist, or only those rows whose perturbations are named.

    Raises:
        SpecError: the task, the criterion or a perturbation is unknown, or neither the data nor the caller name a task.
    """
    name_of_task = task or task_in(dataset)
    rows = list(select_rows(name_of_task, criterion))
    if not perturbations:
        return rows
    chosen = []
    for spec in distinct(perturbations):
        found = _rows_of(spec, rows)
        if not found:
            name = perturbation(spec).info.name
            raise SpecError(
                f"no row {name!r} in the checklist of {name_of_task!r}{nearest(name, {row.template for row in rows})}"
            )
        chosen += found
    return chosen


def rows_to_perturb(
    perturbations: Sequence[str], task: str | None = None, criterion: str | None = None
) -> list[ChecklistRow]:
    """The rows of a task's checklist, or those of some perturbations; without a task, a row of none for each.

    A perturbation outside the checklist of the task is made all the same; its row has no penalty.

    Raises:
        SpecError: the task, the criterion or a perturbation is unknown.
    """
    checklist = () if task is None else select_rows(task, criterion)
    if not perturbations:
        return list(checklist)
    rows: list[ChecklistRow] = []
    for spec in distinct(perturbations):
        beyond = ("", "", spec) if task is None else (task_of(task), criterion or "other", spec, spec)
        rows += _rows_of(spec, checklist) or [ChecklistRow(*beyond)]
    return rows


def _rows_of(spec: str, rows: Sequence[ChecklistRow]) -> list[ChecklistRow]:
    name = perturbation(spec).info.name
    return [dataclasses.replace(row, template=spec) for row in rows if row.template == name]


def perturbed_suite(
    dataset: Dataset,
    rows: Sequence[ChecklistRow],
    *,
    seed: int = 0,
    field: Field | None = None,
    limit: int | None = None,
    legacy_join: bool = False,
    language: str | Language = "builtin",
    scripts: LanguageCheck = "note",
) -> Suite:
    """Make pairs of each text before and after each perturbation. The arguments are those of `nlgauge.suite`.

    If the rows have no task, the suite is a preference suite. The references of its pairs are the texts of the item
    that say the same as the text before the perturbation: the other references, or for a hypothesis all references.
    Where there are none, the text itself is the reference, as in a checklist.
    """
    texts = anchors(dataset, field, limit, seed)
    unread = script_notes(texts, scripts)
    cases = cases_of(texts, language)
    built = {row.spec: perturbation(row.spec) for row in rows}
    pairs: list[Pair] = []
    bugs: list[str] = []
    skipped: Counter[tuple[ChecklistRow, str]] = Counter()
    for anchor, case in zip(texts, cases, strict=True):
        outcomes: dict[str, Perturbed | Inapplicable] = {}
        for row in rows:
            if row.spec not in outcomes:
                outcome = outcomes[row.spec] = apply(built[row.spec], case, seed)
                bugs += [outcome.note] if isinstance(outcome, Inapplicable) and outcome.note else []
            outcome = outcomes[row.spec]
            if isinstance(outcome, Inapplicable):
                skipped[row, outcome.reason] += 1
            else:
                pairs.append(_pair(anchor, row, outcome, case if legacy_join else None))
    notes = [*unread, *bugs[:_BUGS], *_about_copies([pair for pair in pairs if not pair.task])]
    if legacy_join:
        notes.append("perturbed texts are tokens joined by blanks (legacy_join), as the released code writes them")
    left_alone = [
        Skipped(perturbation=row.template, reason=reason, n=n, task=row.task or None, criterion=row.criterion or None)
        for (row, reason), n in skipped.items()
    ]
    design: Design = "checklist" if rows and all(row.task for row in rows) else "preference"
    return Suite(tuple(pairs), dataset.name, design, left_alone, (*dataset.notes, *notes))


def applied(suite: Suite, rows: Sequence[ChecklistRow]) -> list[tuple[ChecklistRow, int, Counter[str]]]:
    """For each row how many texts it changed, and how many it left alone, by reason."""
    changed = Counter((pair.task or "", pair.criterion or "", pair.phenomenon) for pair in suite)
    left: dict[tuple[str, str, str], Counter[str]] = {}
    for s in suite.skipped:
        left.setdefault((s.task or "", s.criterion or "", s.perturbation), Counter())[s.reason] += s.n
    keys = ((row.task, row.criterion, row.template) for row in rows)
    return [(row, changed[key], left.get(key, Counter())) for row, key in zip(rows, keys, strict=True)]


def _about_copies(pairs: Sequence[Pair]) -> list[str]:
    """How many pairs of a preference suite have the better text as their only reference."""
    n = sum(pair.references == (pair.better,) for pair in pairs)
    if not n:
        return []
    return [
        f"{n} of {len(pairs)} pairs have no reference but the text before the change, which nearly every metric"
        " prefers; for a suite that a metric can fail, perturb hypotheses that have references (--field hyp), or take"
        " 'nlgauge audit DATA --suite menli', which puts a paraphrase in place of the reference"
    ]


def task_in(dataset: Dataset) -> str:
    """The task that the data name as their group.

    Raises:
        SpecError: the data name no known task, or several.
    """
    groups_by_task: dict[str, str] = {}
    for group in dataset.groups:
        try:
            groups_by_task.setdefault(task_of(group or ""), group or "")
        except SpecError:
            continue
    if len(groups_by_task) != 1:
        which = f"the data name {', '.join(groups_by_task.values())}" if groups_by_task else "the data name none"
        raise SpecError(f"no task is given and {which}; choose one of mt, as, qg, dg, ic, d2t (--task mt)")
    return next(iter(groups_by_task))


def _pair(anchor: Anchor, row: ChecklistRow, outcome: Perturbed, joined: Case | None) -> Pair:
    text = outcome.text
    if joined is not None:
        text = " ".join(t.text for t in joined.language.analyse(text).tokens)
    s = anchor.segment
    others = tuple(other for other in anchor.others if other.strip() != anchor.text.strip())
    return Pair(
        id="/".join(part for part in (s.id, row.criterion, row.template) if part),
        phenomenon=row.template,
        better=anchor.text,
        worse=text,
        references=(anchor.text,) if row.task or not others else others,
        source=s.source,
        expect=outcome.expect,
        task=row.task or None,
        criterion=row.criterion or None,
        group=s.group,
        context=tuple(s.context),
        meta={**outcome.meta, "edits": [list(e) for e in outcome.edits]},
    )


# --- MENLI's suite made from a data set: a faithful paraphrase against a near-copy with an error

ATTACKS = (
    "addition", "omission", "mismatch_noun", "mismatch_verb", "mismatch_adj", "negation", "number_error",
    "pronoun_error", "name_error", "jumble_words", "typos", "subject_verb_disagreement",
)  # fmt: skip
Paraphrases = Paraphraser | Mapping[str, Sequence[str]] | Callable[..., object]
_SPELT = ("number_error", "number_and_negation")  # their paraphrase is the reference with numbers in words


def menli_suite(
    dataset: Dataset,
    *,
    seed: int = 0,
    task: str | None = None,
    perturbations: Sequence[str] = (),
    paraphrases: Paraphrases | None = None,
    how: str = "max_edit_distance",
    limit: int | None = None,
    language: str | Language = "builtin",
    scripts: LanguageCheck = "note",
) -> Suite:
    """Make pairs for metrics with references (setup `ref`) and, if the data have sources, for metrics without (`src`).

    A metric with references should find m(ref, paraphrase) > m(ref, ref with an error). A metric without references
    should find m(src, ref) > m(src, r with an error). There r is the segment's hypothesis. In summarisation r is the
    reference with the highest ROUGE-L to the document, and ref is the first of the other references: r is never
    compared with itself. For errors of numbers (`number_error`, `number_and_negation`), the paraphrase is the
    reference with its numbers written as words.

    Args:
        perturbations: the attacks; the 12 attacks of the paper if none is named.
        paraphrases: a table from text to paraphrases, a function of a list of texts, or an object with
            `paraphrase(texts)`. If None, the other references of an item are taken. If an item has only one reference,
            small changes are made to it by rule.
        how: which paraphrase is taken if there are several; an object with `paraphrase(texts)` chooses by itself.

    References:
        Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference", sections 3.1 and 4.
    """
    if not any(s.references for s in dataset):
        raise InputError(
            f"{dataset.name or 'the data'}: no segment has a reference, and references are what is attacked"
        )
    texts = [a for a in anchors(dataset, "ref", limit, seed) if a.text.strip()]
    if not texts:
        raise InputError(f"{dataset.name or 'the data'}: no reference to attack")
    unread = script_notes(texts, scripts)
    attacks = _Attacks(tuple(perturbation(name) for name in distinct(perturbations) or ATTACKS), seed, language)
    paraphrased = _paraphrased(texts, paraphrases, how, seed, language)
    pairs = [*attacks.against_reference(texts, paraphrased)]
    pairs += attacks.against_source([a for a in texts if a.segment.source is not None], task)
    notes = [*dataset.notes, *unread, *_about_light(paraphrased)]
    if len({a.segment.group for a in texts}) < len(dataset.groups):
        notes.append("the reference of an item that stands in several groups is taken once")
    return Suite(tuple(pairs), dataset.name, "preference", attacks.left_alone(), tuple(notes))


_Paraphrase = tuple[str | None, str]  # a paraphrase of a reference, and its origin: given, reference, light, or none
_NO_PARAPHRASE: _Paraphrase = (None, "none")


def _paraphrased(
    texts: Sequence[Anchor], given: Paraphrases | None, how: str, seed: int, language: str | Language
) -> list[_Paraphrase]:
    check_option("how", how, How)
    rule = cast(How, how)
    references = [a.text for a in texts]
    if given is not None:
        asked = as_paraphraser(given, how=rule)
        answers = list(asked.paraphrase(references))
        if len(answers) != len(references):
            raise InputError(
                f"the paraphraser gave {len(answers)} paraphrases of {len(references)} texts, expected one each (None"
                " where it has none)"
            )
        return [(text, "given") if text and text.strip() else _NO_PARAPHRASE for text in answers]
    chosen = [select_para(a.others, a.text, how=rule) for a in texts]
    alone = [text for text, other in zip(references, chosen, strict=True) if other is None]
    made = LightParaphraser(seed=seed, language=language).paraphrase(alone)
    light = iter([_NO_PARAPHRASE if text is None else (text, "light") for text in made])
    return [next(light) if text is None else (text, "reference") for text in chosen]


def _about_light(paraphrased: Sequence[_Paraphrase]) -> Iterator[str]:
    n = sum(origin == "light" for _, origin in paraphrased)
    if n:
        yield (
            f"paraphrases of {n} of {len(paraphrased)} references are light (small changes by rule), since there are no"
            " other references and no table (menli:paraphrases=FILE): an easy test, not to be compared with published"
            " accuracies"
        )


class _Attacks:
    """The attacks on texts, with counts of the texts that they did not apply to."""

    def __init__(self, attacks: Sequence[Perturbation], seed: int, language: str | Language) -> None:
        self._attacks = attacks
        self._seed = seed
        self._language = language
        self._skipped: Counter[tuple[str, str, str | None]] = Counter()
        twice = repeated(attack.info.name for attack in attacks)
        if twice is not None:
            raise SpecError(f"perturbation {twice!r} is named twice, expected each attack once")

    def left_alone(self) -> list[Skipped]:
        """How many texts each attack did not apply to, by reason and group."""
        return [
            Skipped(perturbation=name, reason=reason, n=n, group=group)
            for (name, reason, group), n in self._skipped.items()
        ]

    def against_reference(self, texts: Sequence[Anchor], paraphrased: Sequence[_Paraphrase]) -> Iterator[Pair]:
        """Pairs of the paraphrase of each reference (better) and the reference with an error (worse)."""
        cases = cases_of(texts, self._language)
        for attack in self._attacks:
            name = attack.info.name
            for anchor, case, paraphrase in zip(texts, cases, paraphrased, strict=True):
                group = anchor.segment.group
                better, origin = self._in_words(case) if name in _SPELT else paraphrase
                if better is None or better == anchor.text:
                    self._skipped[name, "no number to spell" if name in _SPELT else "no paraphrase", group] += 1
                    continue
                outcome = self._attacked(attack, case, better, (name, "error equals paraphrase", group))
                if outcome is not None:
                    made = {"anchor": "ref", "paraphrase": origin}
                    yield _menli_pair(anchor, name, "ref", better, outcome, made)

    def against_source(self, texts: Sequence[Anchor], task: str | None) -> Iterator[Pair]:
        """Pairs of a reference (better) and r with an error (worse), for metrics that compare with the source."""
        found = [(a, *sides) for a in texts if (sides := _reference_and_r(a, task)) is not None]
        rs = [r for _, _, r in found]
        cases = make_cases(
            rs, ids=[a.segment.id for a, _, _ in found], pool=list(dict.fromkeys(rs)), backend=self._language
        )
        for attack in self._attacks:
            name = attack.info.name
            for (anchor, better, r), case in zip(found, cases, strict=True):
                of = (f"{name} (src)", anchor.segment.group)
                if better is None:
                    self._skipped[of[0], "no other reference", of[1]] += 1
                    continue
                outcome = self._attacked(attack, case, better, (of[0], "error equals reference", of[1]))
                if outcome is not None:
                    yield _menli_pair(anchor, name, "src", better, outcome, {"anchor": "r", "r": r})

    def _attacked(
        self, attack: Perturbation, case: Case, better: str, otherwise: tuple[str, str, str | None]
    ) -> Perturbed | None:
        """The text with an error. None, which is counted, if the attack does not apply or produces the better text."""
        outcome = apply(attack, case, self._seed)
        if isinstance(outcome, Inapplicable) or outcome.text == better:
            name, equal, group = otherwise
            self._skipped[name, outcome.reason if isinstance(outcome, Inapplicable) else equal, group] += 1
            return None
        return outcome

    def _in_words(self, case: Case) -> _Paraphrase:
        outcome = apply(perturbation("numbers_to_words"), case, self._seed)
        return _NO_PARAPHRASE if isinstance(outcome, Inapplicable) else (outcome.text, "number words")


def _menli_pair(
    anchor: Anchor, name: str, setup: Setup, better: str, outcome: Perturbed, made: Mapping[str, Any]
) -> Pair:
    return Pair(
        id=f"{anchor.segment.id}/{name}/{setup}",
        phenomenon=name,
        better=better,
        worse=outcome.text,
        references=(anchor.text,) if setup == "ref" else (),
        source=anchor.segment.source,
        setup=setup,
        group=anchor.segment.group,
        meta={**made, "edits": [list(e) for e in outcome.edits], **outcome.meta},
        cluster=anchor.segment.item or anchor.segment.id,
    )


def _reference_and_r(anchor: Anchor, task: str | None) -> tuple[str | None, str] | None:
    """The reference that is better than r with an error, and r; None where there is no r.

    r is the hypothesis. In summarisation it is the reference nearest to the document, and the first other reference is
    the better text; None stands for it where there is no other.
    """
    s = anchor.segment
    if task is not None and task_of(task) == "as":
        references = (anchor.text, *anchor.others)
        r = _nearest_reference(references, s.source or "")
        return next((text for text in references if text != r), None), r
    return (anchor.text, s.hypothesis) if s.hypothesis.strip() else None


def _nearest_reference(references: Sequence[str], source: str) -> str:
    from nlgauge.metrics.registry import named
    from nlgauge.metrics.run import score_segments  # which warns of nothing: the number is ours alone

    if len(references) == 1:
        return references[0]
    segments = [Segment(str(i), text, (source,)) for i, text in enumerate(references)]
    values = score_segments(named("rougeL"), segments, Runtime(progress=silent))["rougeL"].values
    return references[int(values.argmax())]


# --- Make a suite of a named kind from a data set: a checklist, or MENLI's attacks

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
