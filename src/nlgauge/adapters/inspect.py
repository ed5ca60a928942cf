"""A scorer of inspect_ai: metrics score the samples of a task, and each score carries its signature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from nlgauge.adapters.mlflow import RowScore, RowScorer
from nlgauge.core.errors import MissingExtra
from nlgauge.metrics.stored import check_shipped
from nlgauge.runtime.runtime import Runtime

_NAME = "nlgauge"  # which inspect_ai calls nlgauge/nlgauge: package and scorer
_INPUT = "input"
# Whether specifications come from who calls `as_inspect`; by its name inspect_ai makes the scorer from a log, a file.
_is_typed: ContextVar[bool] = ContextVar("is_typed", default=False)


def as_inspect(
    metrics: str | Sequence[str], *, source: str = _INPUT, device: str = "auto", dtype: str = "float32"
) -> Any:
    """Metrics as one scorer of inspect_ai, for `Task(..., scorer=as_inspect(["chrf", "bertscore"]))`.

    The answer of the model is compared with the targets of its sample, each of which is a reference. The score is a
    mapping from specification to value, of which inspect_ai shows the mean and the standard error; the metadata have
    the signature of each. A score that is undefined, or for which the sample lacks a text, is NaN, which inspect_ai
    counts as unscored, and the explanation says why.

    A log has all that made its scores, so that `inspect score LOG --scorer nlgauge/nlgauge -S metrics=chrf` gives a log
    more of them. `nlgauge gate old.eval new.eval -m human.nlgauge.chrf` compares two runs by these scores. It needs the
    extra `inspect`. inspect_ai also makes this scorer anew from what a log says, so by its name only metrics that run
    on what ships are made.

    Args:
        metrics: specifications; they may not take frequencies or a scale from all samples.
        source: what the answer was made from, for metrics that read it: `input` for the input of the sample, or a key
            of its metadata.
        device: as in `nlgauge.Runtime`.
        dtype: likewise.

    Raises:
        MissingExtra: inspect_ai is not installed.
        SpecError: a metric is unknown, or cannot score single samples.
    """
    try:
        make = registered()
    except ImportError:
        raise MissingExtra("a scorer of inspect_ai", "inspect") from None
    token = _is_typed.set(True)
    try:
        return make([metrics] if isinstance(metrics, str) else [*metrics], source, device, dtype)
    finally:
        _is_typed.reset(token)


@cache
def registered() -> Any:
    """The function that makes the scorer, under its name in the registry of inspect_ai."""
    from anyio import to_thread
    from inspect_ai.scorer import Score, mean, scorer, stderr

    def made(metrics: str | list[str], source: str = _INPUT, device: str = "auto", dtype: str = "float32") -> Any:
        if not _is_typed.get():
            for spec in [metrics] if isinstance(metrics, str) else metrics:
                check_shipped(spec)
        where = {"references": "target", "source": "input" if source == _INPUT else f"metadata: {source}"}
        rows = RowScorer(metrics, _runtime(device, dtype), where)

        async def score(state: Any, target: Any) -> Any:
            found = await to_thread.run_sync(_scores, rows, state, target, source)
            value = {spec: math.nan if one.value is None else one.value for spec, one in found.items()}
            return Score(value=value, answer=_answer(state), explanation=_explanation(found), metadata=_metadata(found))

        return score

    return scorer(metrics={"*": [mean(), stderr()]}, name=_NAME)(made)


@cache
def _runtime(device: str, dtype: str) -> Runtime:
    """One for all tasks of a process, so that they share its models."""
    return Runtime(device=device, dtype=dtype)


def _answer(state: Any) -> str | None:
    if state.output is None or not state.output.choices:
        return None
    answer: str = state.output.completion
    return answer


def _scores(rows: RowScorer, state: Any, target: Any, source: str) -> dict[str, RowScore]:
    answer = _answer(state)
    if answer is None:
        return rows.without_text("the sample has no output of a model")
    references = tuple(one for one in target if one)  # a sample without a target has an empty one
    return rows.score(answer, references, _source(state, source))


def _source(state: Any, source: str) -> str | None:
    if source == _INPUT:
        text: str = state.input_text
        return text
    held = (state.metadata or {}).get(source)
    return held if isinstance(held, str) else None


def _explanation(found: Mapping[str, RowScore]) -> str | None:
    said = dict.fromkeys(said for one in found.values() for said in (one.lacking, *one.notes) if said)
    return "; ".join(said) or None


def _metadata(found: Mapping[str, RowScore]) -> dict[str, Any]:
    return {
        "signatures": {spec: one.signature for spec, one in found.items()},
        "higher_is_better": {spec: one.higher_is_better for spec, one in found.items()},
        "parts": {spec: dict(one.parts) for spec, one in found.items() if one.parts},
        "flags": {spec: [*one.flags] for spec, one in found.items() if one.flags},
    }
