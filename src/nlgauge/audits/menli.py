"""MENLI's suite made from a data set: a faithful paraphrase against a near-copy with an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from nlgauge.audits.anchors import Anchor, anchors, cases_of, distinct, script_notes
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.options import check_option
from nlgauge.core.segment import Dataset, Segment, repeated
from nlgauge.core.suite import Pair, Setup, Skipped, Suite
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.perturbations.base import Case, Inapplicable, Perturbation, Perturbed
from nlgauge.perturbations.checklist import task_of
from nlgauge.perturbations.paraphrase import (
    How,
    LightParaphraser,
    Paraphraser,
    as_paraphraser,
    select_para,
)
from nlgauge.perturbations.perturb import apply, make_cases
from nlgauge.perturbations.registry import perturbation
from nlgauge.runtime.runtime import Runtime, silent
from nlgauge.text.languages import Language

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
        dataset, seed, task, limit, language, scripts: as for `nlgauge.suite`.
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


@dataclass(frozen=True)
class _Paraphrase:
    """A paraphrase of a reference, and its origin: `given`, `reference`, `light`, or `none`."""

    text: str | None
    origin: str


def _paraphrased(
    texts: Sequence[Anchor], given: Paraphrases | None, how: str, seed: int, language: str | Language
) -> list[_Paraphrase]:
    """A paraphrase of each reference for which there is one."""
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
        return [_Paraphrase(text, "given") if text and text.strip() else _Paraphrase(None, "none") for text in answers]
    chosen = [select_para(a.others, a.text, how=rule) for a in texts]
    alone = [text for text, other in zip(references, chosen, strict=True) if other is None]
    light = iter(LightParaphraser(seed=seed, language=language).paraphrase(alone))
    return [_light(next(light)) if text is None else _Paraphrase(text, "reference") for text in chosen]


def _light(text: str | None) -> _Paraphrase:
    return _Paraphrase(text, "none" if text is None else "light")


def _about_light(paraphrased: Sequence[_Paraphrase]) -> Iterator[str]:
    n = sum(p.origin == "light" for p in paraphrased)
    if n:
        yield (
            f"paraphrases of {n} of {len(paraphrased)} references are light (small changes by rule), since there are no"
            " other references and no table (--paraphrases): an easy test, not to be compared with published accuracies"
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
                better = self._in_words(case) if name in _SPELT else paraphrase
                if better.text is None or better.text == anchor.text:
                    self._skipped[name, "no number to spell" if name in _SPELT else "no paraphrase", group] += 1
                    continue
                outcome = self._attacked(attack, case, better.text, (name, "error equals paraphrase", group))
                if outcome is not None:
                    made = {"anchor": "ref", "paraphrase": better.origin}
                    yield _pair(anchor, name, "ref", better.text, outcome, made)

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
                    yield _pair(anchor, name, "src", better, outcome, {"anchor": "r", "r": r})

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
        """The reference with its numbers written as words."""
        outcome = apply(perturbation("numbers_to_words"), case, self._seed)
        return (
            _Paraphrase(None, "none")
            if isinstance(outcome, Inapplicable)
            else _Paraphrase(outcome.text, "number words")
        )


def _pair(anchor: Anchor, name: str, setup: Setup, better: str, outcome: Perturbed, made: Mapping[str, Any]) -> Pair:
    """The attacked text, for metrics with references or for those without."""
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
    from nlgauge.metrics.registry import metric
    from nlgauge.metrics.run import score_segments  # which warns of nothing: the number is ours alone

    if len(references) == 1:
        return references[0]
    segments = [Segment(str(i), text, (source,)) for i, text in enumerate(references)]
    values = score_segments({"": metric("rougeL")}, segments, Runtime(progress=silent))[""].values
    return references[int(values.argmax())]
