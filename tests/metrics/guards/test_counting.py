"""Texts that guards distrust: how they are counted by system, noted and refused; no score moves."""

import warnings

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.scores import MEANINGS
from nlgauge.core.segment import Segment
from nlgauge.metrics.guards.counting import GuardCounts
from nlgauge.metrics.scoring.job import score_source


def counted(*segments):
    """Flag -> how many segments have it."""
    checks = GuardCounts()
    checks.add(segments)
    flags = {meaning: flag for flag, meaning in MEANINGS.items()}
    return {flags[note.partition(" have ")[2]]: int(note.split()[1]) for note in checks.notes()}


def one(hypothesis, *references, source=None, name="a"):
    return Segment(name, hypothesis, references, source=source)


def test_one_text_for_many_inputs_is_counted():
    same = [Segment(str(i), "I do not know.", (f"Answer {i}.",), item=str(i)) for i in range(5)]
    other = [Segment(f"o{i}", f"Text {i}.", (f"Other {i}.",), item=f"o{i}") for i in range(45)]
    assert counted(*same, *other) == {"repeated": 5}
    assert counted(*same[:4], *other) == {}
    assert counted(*same, *other, Segment("p", "Last.", ("Last one.",), item="p")) == {}  # fewer than a tenth
    systems = [Segment(f"{i}", "Yes.", ("Yes, sir.",), item="one", system=str(i)) for i in range(9)]
    assert counted(*systems) == {}  # many systems say the same of one input
    each = [Segment(f"{i}", "Yes.", (f"Yes, {i}.",), item=str(i), system=f"s{i // 3}") for i in range(9)]
    assert counted(*each) == {}  # none of three systems says it of five inputs
    one = [Segment(f"{i}", "Yes.", (f"Yes, {i}.",), item=str(i), system="s", group=f"g{i % 2}") for i in range(6)]
    assert counted(*each, *one) == {"repeated": 6}


def test_one_reference_for_many_inputs_is_counted():
    same = [Segment(str(i), f"Text {i}.", ("n/a",), item=str(i)) for i in range(5)]
    other = [Segment(f"o{i}", f"Text {i}.", (f"Other {i}.",), item=f"o{i}") for i in range(45)]
    assert counted(*same, *other) == {"repeated_reference": 5}
    assert counted(*same[:4], *other) == {}
    systems = [Segment(f"{i}", f"Yes, {i}.", ("Yes.",), item="one", system=str(i)) for i in range(9)]
    assert counted(*systems) == {}  # of one input
    without = [Segment(str(i), f"Text {i}.", (), item=str(i)) for i in range(9)]
    assert counted(*without) == {}


def test_the_right_answer_may_be_given_often():
    yes_or_no = [Segment(str(i), "Yes.", (("Yes.", "No.")[i % 2],), item=str(i)) for i in range(12)]
    assert "repeated" not in counted(*yes_or_no)  # wrong six times, always in the same way
    # five inputs with five answers: what is wrong for four of them is right for the fifth
    own = [Segment(str(i), "I do not know.", (f"Answer {i}.",), item=str(i)) for i in range(4)]
    assert counted(*own, Segment("r", "I do not know.", ("I do not know.",), item="r")) == {}
    assert counted(*own, Segment("q", "I do not know.", ("Answer q.",), item="q")) == {"repeated": 5}


def cut_off(n, others):
    """Translations by a system "m", the first n of which are cut off."""
    for i in range(n + others):
        whole = f"He went to the sea {i} times with his dog."
        text = whole[:-10] if i < n else whole
        yield Segment(f"s{i}", text, (whole,), f"Er ging mit dem Hund {i} Mal an die See.", "m", f"i{i}", "de-en")


def looked_at(*segments):
    checks = GuardCounts()
    checks.add(segments)
    return checks


def test_texts_that_are_cut_off_are_flagged_unless_most_of_the_system_have_no_final_mark():
    half, most = looked_at(*cut_off(5, 5)), looked_at(*cut_off(6, 5))
    assert half.by_system()[None, "m"] == {"n_flagged": 5, "guards.unfinished": 5}
    (note,) = half.notes()
    assert note.startswith("input: 5 of 10 segments (s0, s1, s2, s3, s4) have a hypothesis that is short and has no")
    assert half.over_all()["unfinished"].tolist() == [True] * 5 + [False] * 5
    assert most.by_system()[None, "m"] == {"n_flagged": 0}
    assert most.notes() == [
        "input: texts (m: 6 of 11) have no final mark where the references have one, and none is distrusted for it"
    ]
    assert not most.over_all()["unfinished"].any()
    with pytest.raises(ng.InputError, match=r"^system 'm', segment \(number 1 of 10\) has a hypothesis that is short"):
        half.refuse()
    most.refuse()  # nothing to refuse


def test_texts_that_are_tokenised_are_told_and_neither_flagged_nor_refused():
    spaced = looked_at(*(one("A storm .", "A storm.", name=f"s{i}") for i in range(5)))
    assert spaced.by_system() == {(None, None): {"n_flagged": 0}}
    assert spaced.notes() == [
        "input: texts (5 of 5) end in ' .' where the references end in '.', or the other way round, and none is"
        " distrusted for it"
    ]
    spaced.refuse()


def test_blocks_add_up_and_the_first_ten_are_named():
    checks = GuardCounts()
    for i in range(12):
        checks.add([one("A storm.", "A storm.", "A storm.", name=f"s{i}")])
    (note,) = checks.notes()
    assert note.startswith("input: 12 of 12 segments (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, ...) have one reference")
    assert GuardCounts().notes() == []


def test_every_run_says_so(tmp_path):
    with pytest.warns(ng.ScoreWarning, match=r"input: 1 of 1 segments have one reference twice"):
        ng.score(["A storm."], [["The storm.", "The storm."]], metrics="chrf")
    data = tmp_path / "data.jsonl"
    data.write_text(
        '{"hyp": "Das ist ein Satz.", "ref": "This is a text.", "src": "Das ist ein Satz.", "seg": "s1"}\n',
        encoding="utf-8",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = score_source(ng.io.open_data(data), "chrf").result()
    assert "input: 1 of 1 segments (1) have a hypothesis that is its source, or nearly" in result.notes


SYSTEMS = {
    "good": ["The ferry leaves at noon.", "The road is closed today."],
    "poor": ["Die Fähre legt heute wegen des Sturms erst um zwölf Uhr ab.", ""],
}
REFERENCES = ["Because of the storm the ferry departs at noon.", "Today the road is closed."]
SOURCES = ["Die Fähre legt heute wegen des Sturms erst um zwölf Uhr ab.", "Die Straße ist heute gesperrt."]


def compared(**how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ng.compare(SYSTEMS, REFERENCES, SOURCES, metrics=["chrf", "ter"], draws=10, **how)


def test_the_number_of_distrusted_outputs_stands_beside_every_mean():
    rows = {(row["metric"], row["system"]): row for row in compared().rows if "against" not in row}
    for metric in ("chrf", "ter"):
        good, poor = rows[metric, "good"], rows[metric, "poor"]
        assert (good["n_flagged"], good["guards.copied"], good["guards.empty"]) == (0, 0, 0)
        assert (poor["n_flagged"], poor["guards.copied"], poor["guards.empty"]) == (2, 1, 1)
        assert poor["guards.foreign"] == 1  # the copy again: two guards, one output
    assert not any("n_flagged" in row for row in compared().rows if "against" in row)
    assert any("1 of 4 segments (poor:1) have a hypothesis that is its source" in note for note in compared().notes)


def test_what_no_text_has_is_left_out():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ng.compare({**SYSTEMS, "poor": SYSTEMS["good"]}, REFERENCES, metrics="chrf", draws=10)
    assert not any("n_flagged" in row for row in found.rows)


def test_no_score_moves_with_or_without_guards():
    assert [row["value"] for row in compared().rows] == [row["value"] for row in compared(guards="off").rows]
    off = compared(guards="off")
    assert not any("n_flagged" in row for row in off.rows)
    assert not any(note.startswith("input") for note in off.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noted, unseen = (
            ng.score(SYSTEMS, REFERENCES, SOURCES, metrics=["bleu", "chrf", "ter", "rougeL"], guards=guards)
            for guards in ("note", "off")
        )
    for name, scores in noted.items():
        np.testing.assert_array_equal(scores.values, unseen[name].values)
        assert scores.by_system() == unseen[name].by_system()


def test_the_first_distrusted_text_is_refused_before_anything_is_scored():
    expected = (
        r"^system 'poor', segment 'poor:1' \(number 3 of 4\) has a hypothesis that is its source, or nearly \(guard"
        r" copied\); mend it or leave it out, let guarded\(\.\.\.\) score it as an empty text, or take note"
    )
    with pytest.raises(ng.InputError, match=expected):
        ng.score(SYSTEMS, REFERENCES, SOURCES, metrics="chrf", guards="refuse")
    with pytest.raises(ng.InputError, match=r"^guards is 'refused'; did you mean 'refuse'"):
        ng.score(SYSTEMS, REFERENCES, metrics="chrf", guards="refused")
    twice = [["Because of the storm the ferry departs at noon."] * 2, ["Today the road is closed."]]
    assert ng.score(SYSTEMS["good"], twice, metrics="chrf", guards="refuse")["chrf"].values.shape == (2,)


def test_a_text_for_many_inputs_is_refused_by_its_place():
    texts = ["I do not know."] * 6
    with pytest.raises(ng.InputError, match=r"^segment \(number 1 of 6\) has a hypothesis that .* \(guard repeated\)"):
        ng.score(texts, [f"Answer {i}." for i in range(6)], metrics="chrf", guards="refuse")


def test_groups_are_counted_apart_where_they_have_rows_of_their_own():
    checks = GuardCounts()
    checks.add([Segment("a", "", ("x",), system="s", group="de-en"), Segment("b", "x", ("x",), system="s", group="fi")])
    assert {key: counts["n_flagged"] for key, counts in checks.by_system(by_group=True).items()} == {
        ("de-en", "s"): 1,
        ("fi", "s"): 0,
    }
    assert checks.by_system()[None, "s"] == {"n_flagged": 1, "guards.empty": 1}
