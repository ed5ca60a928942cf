"""The contract of a metric made of others as one call."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.core.errors import InputError
from nlgauge.core.metric import whole
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, is_pooled, rounds
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing.segments import SEGMENTS
from nlgauge.testing.subject import Subject
from nlgauge.text.scripts import known_writings


def check_wrapper(
    wrapper: Metric, inner: Metric, segments: Sequence[Segment] | None = None, runtime: Runtime | None = None
) -> None:
    """Check that a metric made of another one says all that this one says.

    - It is pooled where that one is, and takes at least as many passes to be scored in parts, or cannot be.
    - It names what that one's model was trained on, its notes, its limit or a lower one, and its way out of an error
      about a missing need.
    - It refuses the segments that that one refuses, and reads no writing that that one cannot read.
    - It reads the same vectors.
    - Its scores are signed with the documents that frequencies were taken from.

    Args:
        wrapper: the metric made of the other one.
        inner: the one inside.
        segments: the segments to score; None takes `SEGMENTS`.
        runtime: None is the default runtime.

    Raises:
        AssertionError: a sentence that names the wrapper and what it leaves out.
    """
    subject = Subject(wrapper, list(SEGMENTS if segments is None else segments), runtime or Runtime(), 0.0)
    own, other = whole(wrapper), whole(inner)
    subject.require(is_pooled(wrapper) or not is_pooled(inner), "the metric inside is pooled and the wrapper is not")
    passes, needed = rounds(wrapper), rounds(inner)
    enough = passes is None if needed is None else passes is None or passes >= needed
    subject.require(enough, f"rounds is {passes}, and {needed} of the metric inside")
    for what in ("trained_on", "notes"):
        lost = [one for one in _said(other, what) if not any(one in said for said in _said(own, what))]
        subject.require(not lost, f"{what} of the metric inside are left out: {lost}")
    least = own.limit is not None and other.limit is not None and own.limit <= other.limit
    subject.require(other.limit is None or least, f"limit is {own.limit}, and {other.limit} of the metric inside")
    for need in sorted(wrapper.info.needs & other.lacking.keys()):
        subject.require(own.lacking.get(need) == other.lacking[need], f"lacking[{need!r}] of the metric inside is lost")
    for writing in (known_writings()[0]._replace(language="de"), *known_writings()):
        reason = other.unread(writing)
        subject.require(reason is None or own.unread(writing), f"the metric inside says {reason!r} of {writing}")
    inside, outside = other.vectors_of(subject.runtime), own.vectors_of(subject.runtime)
    lost_sources = [source for source, layers in inside.items() if {*layers} - {*outside.get(source, ())}]
    subject.require(not lost_sources, "vectors that the metric inside reads are not in vectors_of")
    refused = _refuses(wrapper, subject)
    subject.require(refused or not _refuses(inner, subject), "it takes what the metric inside refuses")
    if not refused:
        scored = score_segments({"wrapper": wrapper, "inner": inner}, subject.segments, subject.runtime)
        signed = {name: "documents" in dict(scores.signature.entries) for name, scores in scored.items()}
        subject.require(
            signed["wrapper"] or not signed["inner"],
            "its scores depend on documents, as those of the metric inside, and the signature has no digest of them",
        )


def _said(metric: object, what: str) -> Sequence[str]:
    answers = whole(metric)
    return answers.trained_on if what == "trained_on" else answers.notes


def _refuses(metric: Metric, subject: Subject) -> bool:
    try:
        whole(metric).refuse(subject.segments)
    except InputError:
        return True
    return False
