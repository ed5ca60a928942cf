"""MENLI's suite made from a data set: a faithful paraphrase against a near-copy with an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset
from nlgauge.core.suite import Pair, Skipped, Suite
from nlgauge.perturbations.base import Case, Inapplicable, Perturbation
from nlgauge.perturbations.checklist import task_of
from nlgauge.perturbations.paraphrase import (
    LightParaphraser,
    Paraphraser,
    TableParaphraser,
    as_paraphraser,
    select_para,
)
from nlgauge.perturbations.perturb import apply, make_cases
from nlgauge.perturbations.registry import perturbation
from nlgauge.text.languages import Language

if TYPE_CHECKING:
    from nlgauge.audits.generate import Anchor

ATTACKS = (
    "addition", "omission", "mismatch_noun", "mismatch_verb", "mismatch_adj", "negation", "number_error", "pronoun_error", "name_error",
    "jumble_words", "typos", "subject_verb_disagreement",
)  # fmt: skip
Given = Paraphraser | Mapping[str, Sequence[str]] | Callable[..., object]
_SPELT = "number_error"  # its paraphrase is the reference with numbers in words


def menli_suite(
    dataset: Dataset,
    *,
    seed: int = 0,
    task: str | None = None,
    perturbations: Sequence[str] = (),
    paraphrases: Given | None = None,
    how: str = "max_edit_distance",
    limit: int | None = None,
    language: str | Language = "builtin",
) -> Suite:
    """Pairs for metrics with references (setup `ref`) and, where the data have sources, for those without (`src`).

    With references: m(ref, paraphrase) > m(ref, ref with an error). Without: m(src, ref) > m(src, r with an error), r
        being the
    segment's hypothesis; in summarisation the reference with the highest ROUGE-L to the document. The paraphrase for
    number errors is the reference with its numbers in words.

    Args:
        dataset, seed, task, limit, language: as for `nlgauge.suite`.
        perturbations: attacks, the 12 of the paper if none is named.
        paraphrases: a table text -> paraphrases, a function of a list of texts, or an object with `paraphrase(texts)`;
            None takes the other references of an item, and small changes by rule where there is only one.
        how: which of several paraphrases is taken.

    References:
        Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference", sections 3.1 and 4.
    """
    from nlgauge.audits.generate import anchors, cases_of

    if not any(s.references for s in dataset):
        raise InputError(
            f"{dataset.name or 'the data'}: no segment has a reference, and references are what is attacked"
        )
    found = [a for a in anchors(dataset, "ref", limit, seed) if a.text.strip()]
    if not found:
        raise InputError(f"{dataset.name or 'the data'}: no reference to attack")
    built = [perturbation(name) for name in perturbations or ATTACKS]
    names = [attack.info.name for attack in built]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise SpecError(f"perturbation {twice!r} is named twice, expected each attack once")
    cases = cases_of(found, language)
    skipped: Counter[tuple[str, str, str | None]] = Counter()
    paras, origin = _paraphrases(found, paraphrases, how, seed, language)
    pairs = list(_against_reference(found, cases, built, paras, origin, seed, skipped))
    held = [(a, text) for a in found if a.segment.source is not None and (text := _translation(a, task)) is not None]
    if held:
        pairs += _against_source(held, built, seed, language, skipped)
    notes = list(dataset.notes)
    if "light" in origin:
        n = origin.count("light")
        notes.append(
            f"paraphrases of {n} of {len(origin)} references are light (small changes by rule), for want of other"
            " references or a table (--paraphrases): an easy test, not to be compared with published accuracies"
        )
    if len({a.segment.group for a in found}) < len(dataset.groups):
        notes.append("of items in several groups each reference is taken once")
    return Suite(
        tuple(pairs),
        dataset.name,
        "preference",
        [Skipped(perturbation=name, reason=reason, n=n, group=group) for (name, reason, group), n in skipped.items()],
        tuple(notes),
    )


def _paraphrases(
    found: Sequence[Anchor], given: Given | None, how: str, seed: int, language: str | Language
) -> tuple[list[str | None], list[str]]:
    """A paraphrase of each reference and where it comes from: `given`, `reference`, `light`; None and `none` where there is none."""
    texts = [a.text for a in found]
    if given is not None:
        asked = TableParaphraser(table=given, how=how) if isinstance(given, Mapping) else as_paraphraser(given)  # type: ignore[arg-type]
        made = list(asked.paraphrase(texts))
        if len(made) != len(texts):
            raise InputError(
                f"the paraphraser gave {len(made)} paraphrases of {len(texts)} texts, expected one each (None where it"
                " has none)"
            )
        return made, ["none" if m is None else "given" for m in made]
    made = [select_para(a.others, a.text, how=how) for a in found]  # type: ignore[arg-type]
    origin = ["none" if m is None else "reference" for m in made]
    lone = [i for i, m in enumerate(made) if m is None]
    light = LightParaphraser(seed=seed, language=language).paraphrase([texts[i] for i in lone])
    for i, text in zip(lone, light, strict=True):
        made[i], origin[i] = text, "none" if text is None else "light"
    return made, origin


def _against_reference(
    found: Sequence[Anchor],
    cases: Sequence[Case],
    built: Sequence[Perturbation],
    paras: Sequence[str | None],
    origin: Sequence[str],
    seed: int,
    skipped: Counter[tuple[str, str, str | None]],
) -> Iterator[Pair]:
    words = perturbation("numbers_to_words")
    for attack in built:
        name = attack.info.name
        for anchor, case, para, where in zip(found, cases, paras, origin, strict=True):
            group = anchor.segment.group
            if name == _SPELT:
                spelt = apply(words, case, seed)
                para, where = (
                    (None, "no number to spell") if isinstance(spelt, Inapplicable) else (spelt.text, "number words")
                )
            if para is None or para == anchor.text:
                skipped[name, "no paraphrase" if name != _SPELT else "no number to spell", group] += 1
                continue
            outcome = apply(attack, case, seed)
            if isinstance(outcome, Inapplicable) or outcome.text == para:
                skipped[
                    name, outcome.reason if isinstance(outcome, Inapplicable) else "error equals paraphrase", group
                ] += 1
                continue
            yield Pair(
                id=f"{anchor.segment.id}/{name}/ref",
                phenomenon=name,
                better=para,
                worse=outcome.text,
                references=(anchor.text,),
                source=anchor.segment.source,
                setup="ref",
                group=group,
                meta={"anchor": "ref", "paraphrase": where, "edits": [list(e) for e in outcome.edits], **outcome.meta},
            )


def _against_source(
    held: Sequence[tuple[Anchor, str]],
    built: Sequence[Perturbation],
    seed: int,
    language: str | Language,
    skipped: Counter[tuple[str, str, str | None]],
) -> Iterator[Pair]:
    pool = list(dict.fromkeys(text for _, text in held))
    cases = make_cases([text for _, text in held], ids=[a.segment.id for a, _ in held], pool=pool, backend=language)
    for attack in built:
        name = attack.info.name
        for (anchor, text), case in zip(held, cases, strict=True):
            outcome = apply(attack, case, seed)
            if isinstance(outcome, Inapplicable) or outcome.text == anchor.text:
                skipped[
                    f"{name} (src)",
                    outcome.reason if isinstance(outcome, Inapplicable) else "error equals reference",
                    anchor.segment.group,
                ] += 1
                continue
            yield Pair(
                id=f"{anchor.segment.id}/{name}/src",
                phenomenon=name,
                better=anchor.text,
                worse=outcome.text,
                source=anchor.segment.source,
                setup="src",
                group=anchor.segment.group,
                meta={"anchor": "r", "r": text, "edits": [list(e) for e in outcome.edits], **outcome.meta},
            )


def _translation(anchor: Anchor, task: str | None) -> str | None:
    """The text that stands for r: the hypothesis, or in summarisation the reference nearest to the document."""
    s = anchor.segment
    if task is not None and task_of(task) == "as":
        return _nearest_reference(s.references, s.source or "")
    return s.hypothesis if s.hypothesis.strip() else None


def _nearest_reference(references: Sequence[str], source: str) -> str:
    from nlgauge.metrics.scoring import score

    if len(references) == 1:
        return references[0]
    values = score(list(references), [source] * len(references), metrics="rougeL")["rougeL"].values
    return references[int(values.argmax())]
