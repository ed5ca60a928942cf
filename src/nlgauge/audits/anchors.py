"""Which texts of a data set are perturbed: the references of its items, or the hypotheses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import check_option
from nlgauge.core.scores import MetricInfo
from nlgauge.core.segment import Dataset, Segment, is_blank
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.perturbations.base import Case, stream
from nlgauge.perturbations.perturb import make_cases
from nlgauge.scoring.looks import Looks
from nlgauge.text.languages import Language
from nlgauge.text.scripts import LATIN, Writing

Field = Literal["ref", "hyp"]


@dataclass(frozen=True)
class Anchor:
    """A text to perturb, with the segment it comes from.

    Attributes:
        segment: the segment that has the text.
        text: the text itself.
        others: the other references of the item that are not blank.
    """

    segment: Segment
    text: str
    others: tuple[str, ...]


def anchors(dataset: Dataset, field: Field | None = None, limit: int | None = None, seed: int = 0) -> list[Anchor]:
    """The texts to perturb: the first reference of each item once, or every hypothesis.

    Args:
        dataset: the segments.
        field: `ref` or `hyp`. If None, `ref` if the data have references, else `hyp`.
        limit: take at most this many texts, drawn at random with the seed. Each text draws its lot by what it says and
            by its id, so that neither the name of the data set nor the order of its rows changes the choice.
        seed: the seed of that draw.

    Raises:
        InputError: references are requested and there are none, or there is no text at all.
    """
    check_option("field", field, Field | None, error=InputError)
    wanted = field or ("ref" if any(s.references for s in dataset) else "hyp")
    by_key: dict[tuple[str, str], Anchor] = {}
    for s in dataset:
        texts = s.references if wanted == "ref" else (s.hypothesis,)
        if texts:
            others = tuple(r for r in s.references[wanted == "ref" :] if not is_blank(r))
            key = (s.item or s.id, texts[0]) if wanted == "ref" else (s.id, "")
            by_key.setdefault(key, Anchor(s, texts[0], others))
    if not by_key:
        raise InputError(
            f"{dataset.name or 'the data'}: no segment has a reference; perturb the hypotheses (field hyp)"
        )
    if limit is None or limit >= len(by_key):
        return list(by_key.values())
    lots = sorted((stream(seed, "limit", f"{key[0]}\0{a.text}").random(), key) for key, a in by_key.items())
    chosen = {key for _, key in lots[:limit]}
    return [anchor for key, anchor in by_key.items() if key in chosen]


class _English(BaseMetric):
    """The need of most perturbations, as a metric would say it."""

    info = MetricInfo("perturbations", needs=frozenset())

    def unread(self, writing: Writing) -> str | None:
        """The same for every script but Latin, and for every language but English."""
        if writing.script == LATIN:
            takes = "those that need English take them for English, and edit what looks like it"
            return None if writing.may_be_english else takes
        reason = "with the reason 'language' (page 'languages' of the documentation)"
        return f"those that need English leave them alone, {reason}"


def script_notes(found: Sequence[Anchor], scripts: LanguageCheck) -> list[str]:
    """A note on texts in scripts that perturbations of English words do not read.

    Raises:
        InputError: there are such texts, and `scripts` is `strict`.
    """
    texts = [Segment(a.segment.id, a.text) for a in found]
    return Looks(language=scripts, guards="off").seen({"perturbations": _English()}, texts, "texts").notes()


def cases_of(found: Sequence[Anchor], language: str | Language) -> list[Case]:
    """One case per text, with the other texts to draw from and with the dialogue and references of its segment."""
    return make_cases(
        [a.text for a in found],
        ids=[a.segment.id for a in found],
        context=[a.segment.context for a in found],
        pool=list(dict.fromkeys(a.text for a in found)),
        references=[a.others for a in found],
        backend=language,
    )


def distinct(perturbations: Sequence[str]) -> Sequence[str]:
    """The names, unchanged, if none of them occurs twice.

    Raises:
        SpecError: a perturbation is named twice.
    """
    twice = next((spec for i, spec in enumerate(perturbations) if spec in perturbations[:i]), None)
    if twice is not None:
        raise SpecError(f"perturbation {twice!r} is named twice; name it once")
    return perturbations
