"""Odd texts: what is counted, what is not, and that every run says so."""

import warnings

import pytest

import nlgauge as ng
from nlgauge.core.counts import MEANINGS
from nlgauge.core.segment import Segment
from nlgauge.metrics.inputs import InputChecks
from nlgauge.metrics.job import score_source


def counted(*segments):
    """Flag -> how many segments have it."""
    checks = InputChecks()
    checks.add(segments)
    flags = {meaning: flag for flag, meaning in MEANINGS.items()}
    return {flags[note.partition(" have ")[2]]: int(note.split()[1]) for note in checks.notes()}


def one(hypothesis, *references, source=None, name="a"):
    return Segment(name, hypothesis, references, source=source)


def test_a_copy_of_the_source_is_counted_unless_it_is_right():
    assert counted(one("Ein Satz.", "A sentence.", source="Ein Satz.")) == {"copied": 1}
    assert counted(one("Berlin", "Berlin", source="Berlin")) == {}
    assert counted(one("Berlin", "berlin", "Berlin", source="Berlin")) == {}
    assert counted(one("", "A sentence.", source="")) == {}
    assert counted(one("Ein Satz.", source="Ein Satz.")) == {"copied": 1}  # without references, too


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("It was the end of the day, " + "the end of the day, " * 3, True),
        ("so " + "ha " * 20, True),
        ("m" * 60, True),
        ("It was good, it was very good, and it was good again, as good as it was before.", False),
        ("no no no", False),  # short
        ("the same sentence once more. " * 2, False),
    ],
)
def test_loops_at_the_end_are_counted(text, loops):
    assert counted(one(text, "other.")).get("looping", 0) == loops
    assert "looping" not in counted(one(text, text))  # the reference has it, too


def test_a_text_without_a_final_mark_is_counted_where_references_have_one():
    whole = [one("It is done.", "It was done.", name=str(i)) for i in range(9)]
    assert counted(*whole, one("He went to the", "He went to the sea.")) == {"unfinished": 1}
    assert counted(*whole, one("He said “no”", "He said no.")) == {}
    assert counted(*whole, one("", "He said no.")) == {}  # empty, which metrics count
    assert counted(*whole, one("He said", "He said.", "He said")) == {}
    assert counted(*whole, one("He went", "He went.", source="er ging")) == {}  # nor has the source one
    assert counted(*whole, one("He went", "He went.", source="Er ging.")) == {"unfinished": 1}
    loose = [one("a title", "the title", name=str(i)) for i in range(2)]
    assert counted(*whole, *loose, one("He went to the", "He went to the sea.")) == {}  # nine of twelve end in a mark


def test_a_side_that_is_tokenised_is_counted():
    assert counted(one("A storm .", "A storm.")) == {"spaced": 1}
    assert counted(one("A storm.", "A storm .", "The storm .")) == {"spaced": 1}
    assert counted(one("A storm .", "A storm .")) == {}
    assert counted(one("A storm .", "A storm .", "A storm.")) == {}


def test_one_text_for_many_inputs_is_counted():
    same = [Segment(str(i), "I do not know.", (f"Answer {i}.",), item=str(i)) for i in range(5)]
    other = [Segment(f"o{i}", f"Text {i}.", (f"Other {i}.",), item=f"o{i}") for i in range(45)]
    assert counted(*same, *other) == {"repeated": 5}
    assert counted(*same[:4], *other) == {}
    assert counted(*same, *other, Segment("p", "Last.", ("Last one.",), item="p")) == {}  # fewer than a tenth
    systems = [Segment(f"{i}", "Yes.", ("Yes, sir.",), item="one", system=str(i)) for i in range(9)]
    assert counted(*systems) == {}  # many systems say the same of one input


def test_blocks_add_up_and_the_first_ten_are_named():
    checks = InputChecks()
    for i in range(12):
        checks.add([one("A storm .", "A storm.", name=f"s{i}")])
    (note,) = checks.notes()
    assert note.startswith(
        "input: 12 of 12 segments (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, ...) have ' .' at the end of one side"
    )
    assert InputChecks().notes() == []


def test_every_run_says_so(tmp_path):
    with pytest.warns(ng.ScoreWarning, match=r"input: 1 of 1 segments \(1\) have ' \.' at the end of one side"):
        ng.score(["A storm ."], ["A storm."], metrics="chrf")
    data = tmp_path / "data.jsonl"
    data.write_text('{"hyp": "Ein Satz.", "ref": "A text.", "src": "Ein Satz.", "seg": "s1"}\n', encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = score_source(ng.io.open_data(data), "chrf").result()
    assert "input: 1 of 1 segments (1) have a hypothesis that is its source, unchanged" in result.notes
