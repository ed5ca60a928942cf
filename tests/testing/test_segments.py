from __future__ import annotations

import re

from nlgauge.core.segment import Dataset
from nlgauge.testing import SEGMENTS
from nlgauge.testing.extremes import unrelated

TEXTS = [text for s in SEGMENTS for text in (s.hypothesis, *s.references)]


def test_ids_are_unique_and_every_segment_has_all_that_a_metric_may_need():
    assert len(Dataset(SEGMENTS)) == len(SEGMENTS)
    for segment in SEGMENTS:
        assert segment.references
        assert segment.source
        assert segment.context
        assert segment.table
        assert segment.system
        assert segment.item


def test_what_metrics_tend_to_fail_on_is_there():
    assert "" in TEXTS
    assert any(text and not text.strip() for text in TEXTS)
    assert any(s.hypothesis == s.references[0] != "" for s in SEGMENTS)
    assert any(len(s.references) > 2 for s in SEGMENTS)
    assert any(not re.search(r"\w", text) for text in TEXTS if text.strip())
    assert any(ord(c) > 0xFFFF for text in TEXTS for c in text)  # beyond what UTF-16 holds in one unit
    assert any("\u0301" in text for text in TEXTS)
    assert any("\u2028" in text for text in TEXTS)
    assert max(len(text.split()) for text in TEXTS) > 300
    assert any(" " not in text and len(text) > 10 for text in TEXTS)


def test_one_text_occurs_twice():
    keys = [(s.hypothesis, s.references) for s in SEGMENTS]
    assert len(set(keys)) < len(keys)


def test_unrelated_text_can_be_made_for_every_one():
    for text in TEXTS:
        assert not set(text.lower()) & set(unrelated(text)) - {" "}
