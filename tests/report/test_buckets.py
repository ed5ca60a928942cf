"""Buckets of segments: as many texts in each, named by what they hold."""

from nlgauge.core.segment import Segment
from nlgauge.report.buckets import buckets_of


def segments(lengths, word="w{}", **fields):
    texts = [" ".join(word.format(f"{i}-{k}") for k in range(n)) for i, n in enumerate(lengths)]
    return [Segment(str(i), "text", (text,), **fields) for i, text in enumerate(texts)]


def test_each_bucket_holds_about_as_many_texts():
    # twelve different texts make two buckets; half of them have at most 6 words
    (found,) = buckets_of(segments(range(1, 13)), [None] * 12)
    assert found.name == "length of the reference"
    assert found.labels == ["up to 6 words", "7 words or more"]
    assert found.places.tolist() == [0] * 6 + [1] * 6


def test_there_are_at_most_five_and_equal_lengths_stay_together():
    (found,) = buckets_of(segments([*range(1, 41)]), [None] * 40)
    assert len(found.labels) == 5
    assert found.labels[1] == "9 to 16 words"
    assert buckets_of(segments([7] * 40), [None] * 40) == []
    assert buckets_of(segments(range(1, 11)), [None] * 10) == []  # too few to compare


def test_what_has_no_reference_is_measured_by_its_source_or_not_at_all():
    texts = [Segment(str(i), "text", (), "w " * i + str(i)) for i in range(12)]
    (found,) = buckets_of([*texts, None], [None] * 13)
    assert found.name == "length of the source"
    assert found.places.tolist()[-1] == -1
    assert buckets_of([None] * 20, [None] * 20) == []


def test_texts_without_blanks_are_counted_in_characters():
    texts = [Segment(str(i), "text", ("雨" * (20 + i),)) for i in range(12)]
    (found,) = buckets_of(texts, [None] * 12)
    assert found.labels == ["up to 25 characters", "26 characters or more"]


def test_groups_are_buckets():
    (found,) = buckets_of([None] * 3, ["en-de", "de-en", None])
    assert (found.name, found.labels, found.places.tolist()) == ("group", ["de-en", "en-de"], [1, 0, -1])
