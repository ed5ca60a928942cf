"""A long synthesis: portion by portion into a journal, with the texts left alone and a summary of all triples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from nlgauge.core.result import Result
from nlgauge.core.spec import Signature
from nlgauge.perturbations.synthesis.severity import MAJOR, MINOR
from nlgauge.perturbations.synthesis.synthesize import Synthesizer
from nlgauge.runtime.runtime import Advance, silent

PORTION = 256  # texts that are kept together; a run that is killed loses no more
NAN = float("nan")
Progress = Callable[[int, str], AbstractContextManager[Advance]]


class Journal(Protocol):
    """Where rows are kept while a run goes on; as `nlgauge.io.Journal`."""

    taken: int
    state: dict[str, Any]

    def add(self, taken: int, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
        """Store the rows of a portion, how many texts are done with it, and the state that a resumed run needs."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows kept so far."""


@dataclass(frozen=True)
class SynthesisRun:
    """A finished run.

    Attributes:
        journal: holds the triples.
        signature: what made them.
    """

    journal: Journal
    signature: Signature

    @property
    def skipped(self) -> Counter[str]:
        """How many texts were left alone, by reason."""
        return Counter(self.journal.state["skipped"])

    @property
    def left_alone(self) -> str:
        """The number of texts left alone, by reason, in words; empty if there were none."""
        total = self.skipped.total()
        reasons = ", ".join(f"{reason} {n}" for reason, n in self.skipped.most_common())
        return f"left alone: {total} {'text' if total == 1 else 'texts'} ({reasons})" if total else ""

    def result(self, inputs: Sequence[Mapping[str, str]] = (), notes: Sequence[str] = ()) -> Result:
        """The result that `nlgauge synth` prints: one row per operation, and one for all.

        Args:
            inputs: the files read.
            notes: notes on what was read; a note on what was left alone is added.
        """
        about = {"spec": "synthesize", "signature": str(self.signature), "higher_is_better": True}
        left = [self.left_alone] if self.left_alone else []
        return Result("synth", summary_rows(self.journal.rows()), inputs, [about], [*notes, *left])


def run_synthesis(
    maker: Synthesizer,
    texts: Sequence[str],
    ids: Sequence[str],
    journal: Journal,
    *,
    others: Sequence[Sequence[str]] = (),
    limit: int | None = None,
    progress: Progress = silent,
) -> SynthesisRun:
    """Put errors into all texts, portion by portion; start where the journal stops.

    Args:
        maker: puts errors into texts.
        texts: length n.
        ids: the ids of the texts, length n; the id of a triple is that of its text, with `/0`, `/1` ... for variants.
        journal: takes the triples.
        others: of each text its paraphrases, length n: they are the `refs` of its triples, and the text as it came
            is one more triple, `ID/untouched`, with the score 0. Empty: each text is compared with itself.
        limit: use only the first texts, up to this many.
        progress: shows how many texts are done.
    """
    n = len(texts) if limit is None else min(limit, len(texts))
    if not journal.state:
        journal.state = {"skipped": {}}
    with progress(n, "texts") as advance:
        advance(journal.taken)
        for start in range(journal.taken, n, PORTION):
            end = min(start + PORTION, n)
            outcomes = maker(texts[start:end])
            rows = []
            for place, one in enumerate(outcomes):
                at = start + place // maker.variants
                if one is not None:
                    name = ids[at] if maker.variants == 1 else f"{ids[at]}/{one.variant}"
                    rows.append(one.as_row(name, others[at] if others else ()))
                if others and (place + 1) % maker.variants == 0:
                    rows.append(_untouched(ids[at], texts[at], others[at]))
            each = zip(*(outcomes.reasons[variant :: maker.variants] for variant in range(maker.variants)), strict=True)
            reasons = Counter(own[0] for own in each if own[0] is not None and None not in own)
            journal.add(end, rows, {"skipped": dict(Counter(journal.state["skipped"]) + reasons)})
            advance(end - start)
    return SynthesisRun(journal, maker.signature)


def _untouched(name: str, text: str, others: Sequence[str]) -> dict[str, Any]:
    """The triple of a text as it came beside its paraphrases."""
    return {"id": f"{name}/untouched", "hyp": text, "refs": list(others), "score": 0.0, "original": text, "steps": []}


def summary_rows(triples: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per operation and one for all, from rows of triples.

    Each has the number of edits, their share, their mean severity, and the share of major ones where severities are
    -1 or -5. Triples without an edit, as of paraphrases, do not count.
    """
    texts, score = 0, 0.0
    severities: dict[str, list[float]] = {}
    for triple in triples:
        if not triple["steps"]:
            continue  # untouched, beside its paraphrases
        texts += 1
        score += triple["score"]
        for step in triple["steps"]:
            severities.setdefault(step["operation"], []).append(step["severity"])
    every = [severity for values in severities.values() for severity in values]
    return [
        {
            "operation": name,
            "texts": texts,
            "edits": len(values),
            "share": len(values) / len(every) if every else NAN,
            "severity": sum(values) / len(values) if values else NAN,
            "major": _major(values),
            "score": score / texts if texts and name == "all" else NAN,
        }
        for name, values in {**dict(sorted(severities.items())), "all": every}.items()
    ]


def _major(severities: Sequence[float]) -> float:
    """The share of -5; NaN where there are none, and where they are graded."""
    if not severities or not {MINOR, MAJOR}.issuperset(severities):
        return NAN
    return sum(severity == MAJOR for severity in severities) / len(severities)
