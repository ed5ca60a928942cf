"""Texts with a known order, made from the user's own: outputs with an error, harmless changes, near-copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nlgauge.audits.preference import Field
from nlgauge.audits.suites import menli_suite, perturbed_suite, task_in
from nlgauge.choosing.evidence import Care
from nlgauge.choosing.sample import Sample, item_of
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment, is_blank
from nlgauge.core.suite import Pair, Suite
from nlgauge.perturbations.base import stream
from nlgauge.perturbations.checklist import ChecklistRow, select_rows, task_of
from nlgauge.stats.draws import FEWEST

_TEXTS = 80  # outputs that errors are put into
_EACH = 60  # pairs of each aspect, and of each other kind
_FALLBACK = "mt"
# What a change of a text harms, where its criterion does not say so already.
_ASPECT: Mapping[str, Care] = {
    **dict.fromkeys(
        "change_numbers change_names change_attributes change_gender swap_objects perturb_entities number_error"
        " name_error pronoun_error".split(),
        "facts",
    ),
    **dict.fromkeys(
        "negation antonyms hyponyms random_text generic_response negate_previous_utterance mismatch_noun mismatch_verb"
        " mismatch_adj sorry_repeat".split(),
        "meaning",
    ),
    **dict.fromkeys(
        "drop_phrases drop_adjectives drop_named_entities drop_objects keep_only_stopwords add_extra_text add_nonsense"
        " repeat_phrases repeat_object addition omission".split(),
        "coverage",
    ),
    **dict.fromkeys("typos jumble_words subject_verb_disagreement".split(), "fluency"),
}
_CRITERION: Mapping[str, Care] = {
    **dict.fromkeys("fluency coherence non_redundancy referential_clarity avoiding_repetition".split(), "fluency"),
    **dict.fromkeys("data_coverage thoroughness".split(), "coverage"),
}


@dataclass(frozen=True)
class Trials:
    """Pairs of texts for all metrics.

    Attributes:
        errors: texts and the same texts with an error, or with a harmless change (`expect` says which); None if nothing
            applied. The criterion of a pair with an error is the aspect that it harms.
        copies: a paraphrase of a reference, and the reference with an error; None without references.
        source: the texts that errors were put into, in words.
        task: the task whose checklist was taken.
        notes: what a reader must know.
    """

    errors: Suite | None
    copies: Suite | None
    source: str
    task: str
    notes: tuple[str, ...]

    @property
    def suites(self) -> tuple[Suite, ...]:
        """Those that there are."""
        return tuple(suite for suite in (self.errors, self.copies) if suite is not None)


def make_trials(sample: Sample, task: str | None, seed: int = 0) -> Trials:
    """Trials of a sample.

    Errors are those of the checklist of the task. They are put into outputs; into references where there are no
    outputs, or where all of them are copies of references.

    Raises:
        SpecError: the task is unknown.
    """
    settled, notes = settled_task(sample.dataset, task)
    from_outputs = sample.has_outputs
    field: Field = "hyp" if from_outputs else "ref"
    data = sample.dataset if from_outputs else _of_references(sample.dataset)
    rows = [*_rows(settled)]
    errors = copies = None
    each, texts = max(FEWEST, round(_EACH * sample.part)), round(_TEXTS * sample.part)
    try:
        made = perturbed_suite(_some(data), rows, seed=seed, field=field, limit=texts, scripts="off")
        errors = _spread(_sound(made, data), each, seed)
    except InputError as error:
        notes.append(f"no errors could be made: {error}")
    if any(s.references for s in data):
        try:
            attacked = menli_suite(data, seed=seed, task=settled, limit=texts, scripts="off")
            copies = _spread(attacked, each, seed)
        except InputError as error:
            notes.append(f"no near-copies could be made: {error}")
    source = "your outputs" if from_outputs else "your references"
    return Trials(errors, copies, source, settled, tuple(notes))


def settled_task(dataset: Dataset, task: str | None) -> tuple[str, list[str]]:
    """The task whose checklist is taken: as given, as the data say, or translation, and a note if it is a guess.

    Raises:
        SpecError: the given task is unknown.
    """
    if task is not None:
        return task_of(task), []
    try:
        return task_in(dataset), []
    except SpecError:
        groups = [group for group in dataset.groups if group]
    if groups and all(_is_pair(group) for group in groups):
        return "mt", []
    of = f"there is no checklist of {groups[0]!r}" if groups else "the data name no task"
    return _FALLBACK, [f"{of}: the errors are those of the checklist of translation (--task mt|as|qg|dg|ic|d2t)"]


def _is_pair(group: str) -> bool:
    """Whether it is the name of a language pair, as `cs-en`."""
    one, dash, other = group.partition("-")
    return bool(dash) and all(2 <= len(code) <= 3 and code.isalpha() for code in (one, other))


def _rows(task: str) -> Iterator[ChecklistRow]:
    """The rows of a checklist as rows of no task, so that texts are compared with their references; each change once.

    The criterion becomes the aspect.
    """
    seen: set[str] = set()
    for row in select_rows(task):
        if row.template in seen or row.template == "alternative_references":
            continue
        seen.add(row.template)
        aspect = "same" if row.criterion == "invariance" else aspect_of(row.template, row.criterion)
        yield replace(row, task="", criterion=aspect)


def aspect_of(template: str, criterion: str = "") -> Care:
    """What a change of a text harms."""
    return _CRITERION.get(criterion) or _ASPECT.get(template, "meaning")


def _sound(suite: Suite, dataset: Dataset) -> Suite:
    """The pairs without those whose changed text is blank, or what another system or a reference says of the item.

    Raises:
        InputError: no pair is left.
    """
    items: dict[str, set[object]] = {}
    for s in dataset:
        for text in (s.hypothesis, *s.references):
            items.setdefault(text.strip(), set()).add(item_of(s))
    none: set[object] = set()
    kept = [
        pair
        for pair in suite
        if not is_blank(pair.worse)
        and (pair.expect == "same" or not items.get(pair.worse.strip(), none) & items.get(pair.better.strip(), none))
    ]
    return replace(suite, pairs=tuple(kept))


def _of_references(dataset: Dataset) -> Dataset:
    """Rows of references alone, so that the first one is perturbed and the others stand beside it."""
    kept = [s for s in dataset if s.references]
    return Dataset(tuple(kept), dataset.name)


def _some(dataset: Dataset) -> Dataset:
    """The segments with a text."""
    return Dataset(tuple(s for s in dataset if _text(s)), dataset.name)


def _text(segment: Segment) -> bool:
    return not is_blank(segment.hypothesis) or bool(segment.references)


def _spread(suite: Suite, each: int, seed: int) -> Suite | None:
    """At most so many pairs of each aspect, of the harmless ones and of each setup, over as many texts as possible."""
    kinds: dict[tuple[str, str], list[Pair]] = {}
    for pair in suite:
        kinds.setdefault((pair.setup, pair.criterion or pair.expect), []).append(pair)
    kept: set[str] = set()
    for pairs in kinds.values():
        drawn = sorted(pairs, key=lambda pair: stream(seed, "choose", pair.id).random())
        kept |= {pair.id for pair in drawn[:each]}
    pairs_kept: Sequence[Pair] = [pair for pair in suite if pair.id in kept]
    return replace(suite, pairs=tuple(pairs_kept)) if pairs_kept else None
