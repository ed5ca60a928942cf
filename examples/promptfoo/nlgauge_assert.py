"""An assertion of promptfoo: metrics of nlgauge score the output, and each has a bound.

    - type: python
      value: file://nlgauge_assert.py
      config: {bounds: {chrf: 40, ter: 80}, reference: expected}

`bounds` are in the units of the metric: the least score, or the largest where lower is better. `reference` and `source`
are names of variables; a reference may be a list.
"""

import math
import warnings

import nlgauge as ng


def get_assert(output, context):
    """What promptfoo calls; it returns a GradingResult."""
    config, variables = context.get("config") or {}, context.get("vars") or {}
    bounds = config.get("bounds") or {}
    if not bounds:
        return undefined("config names no bounds, expected a metric and a number, such as bounds: {chrf: 40}")
    if not isinstance(output, str):
        return undefined(f"the output is {type(output).__name__}, expected a text; add a transform that takes it out")
    references = variables.get(config.get("reference", "reference"))
    source = variables.get(config["source"]) if "source" in config else None
    listed = [references] if isinstance(references, str) else references
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ng.ScoreWarning)
            scores = ng.score([output], listed and [listed], source and [source], metrics=list(bounds))
    except ng.NlgaugeError as error:
        return undefined(str(error))
    return graded({spec: (scores[spec], bound) for spec, bound in bounds.items()})


def graded(found):
    """The result of metrics and their bounds."""
    missed = [spec for spec, (one, _) in found.items() if not math.isfinite(one.values[0])]
    if missed:
        return undefined(f"no score by {', '.join(missed)}: {'; '.join(found[missed[0]][0].notes)}")
    values = {spec: float(one.values[0]) for spec, (one, _) in found.items()}
    held = {spec: values[spec] >= b if s.higher_is_better else values[spec] <= b for spec, (s, b) in found.items()}
    told = [
        f"{spec} {values[spec]:.4g}, expected at {'least' if s.higher_is_better else 'most'} {bound:g} ({s.signature})"
        for spec, (s, bound) in found.items()
    ]
    return {
        "pass": all(held.values()),
        "score": sum(place(spec, values[spec], held[spec]) for spec in found) / len(found),
        "reason": "; ".join(told),
        "namedScores": values,
    }


def place(spec, value, holds):
    """A score on promptfoo's scale from 0 to 1; of a metric without limits, whether the bound holds."""
    info = ng.metric(spec).info
    low, high = info.range
    if not (math.isfinite(low) and math.isfinite(high)):
        return float(holds)
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return share if info.higher_is_better else 1 - share


def undefined(reason):
    """No score: promptfoo stores a 0, and the mark tells readers, such as nlgauge, that it is none."""
    return {"pass": False, "score": 0, "reason": reason, "metadata": {"graderError": True}}
