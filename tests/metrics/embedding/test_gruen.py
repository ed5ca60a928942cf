"""GRUEN's redundancy and focus: worked by hand, and against the rules written as loops."""

import random
from itertools import combinations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding import gruen
from nlgauge.metrics.embedding.gruen import Gruen, longest_common_substring, signs_of_redundancy
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.metric import SEGMENTS

OLD = "The old ferry left the harbour at seven."


def score(*texts, **options):
    segments = [Segment(str(i), text) for i, text in enumerate(texts)]
    return Gruen(**options).score(segments, Runtime(device="cpu"))


@pytest.mark.parametrize(
    ("other", "signs"),
    [
        (OLD, 4),  # the same
        ("ferry left the harbour", 4),  # a part of it
        # 40 and 39 characters. In common is "The old ferry left the harbour at " (34, above 0.8 * 39) with 7 words
        # (above 0.8 * 8); 4 edits ("seven" to "noon") are below 0.6 * 40; 7 words are in common
        ("The old ferry left the harbour at noon.", 4),
        # The words are the same, but "seven." and "harbour.", so that 6 of 8 are in common, which is not above 6.4; the
        # longest common substring is " harbour"; 33 edits are above 0.6 * 40
        ("seven the at harbour. left ferry old The", 0),
        ("Nobody knows why.", 0),
    ],
)
def test_signs_of_redundancy_by_hand(other, signs):
    assert signs_of_redundancy([OLD, other]) == signs


def test_two_alike_among_three_cost_as_many_tenths_as_they_have_signs():
    found = score(f"{OLD} Nobody was hurt. {OLD}", parts="redundancy")
    assert found.parts["redundancy"] == pytest.approx([-0.4])
    assert found.values == pytest.approx([0.6])
    assert np.isnan(found.parts["focus"]).all()


def test_more_signs_than_ten_leave_nothing():
    assert score(f"{OLD} {OLD} {OLD}", parts="redundancy").values.tolist() == [0.0]  # three pairs: 1 - 1.2


def by_rule(sentences):
    """The rules with plain loops, and a table for the substring and the edits."""
    total = 0
    for a, b in combinations(sentences, 2):
        if a == b or a in b or b in a:
            total += 4
            continue
        first, second = a.split(), b.split()
        if max(len(first), len(second)) < 5:
            continue
        best = ""
        for i in range(len(a)):
            for j in range(i + len(best) + 1, len(a) + 1):
                if a[i:j] not in b:
                    break
                best = a[i:j]
        row = list(range(len(b) + 1))
        for i, char in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, other in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (char != other))
        total += len(best) > 0.8 * min(len(a), len(b))
        total += len(best.split()) > 0.8 * min(len(first), len(second))
        total += row[-1] < 0.6 * max(len(a), len(b))
        total += sum(word in second for word in first) > 0.8 * min(len(first), len(second))
    return total


def test_signs_are_those_of_the_rules():
    rng = random.Random(3)
    words = ["the", "old", "ferry", "a", "storm", "left", "harbour,", "seven.", "on"]
    seen = set()
    for _ in range(150):
        first = [rng.choice(words) for _ in range(rng.randint(3, 9))]
        second = list(first)
        for _ in range(rng.randint(0, 5)):  # words replaced, added or dropped
            place = rng.randrange(len(second) + 1)
            second[place : place + rng.randint(0, 1)] = [rng.choice(words)] * rng.randint(0, 1)
        pair = [" ".join(first), " ".join(second) or "none"]
        signs = signs_of_redundancy(pair)
        assert signs == by_rule(pair), pair
        seen.add(signs)
    assert seen == {0, 1, 2, 3, 4}


def test_the_longest_common_substring_is_the_first_of_the_first_text():
    assert longest_common_substring("abcxdef", "defyabc") == "abc"
    assert longest_common_substring("abc", "xyz") == ""
    assert longest_common_substring("ab" * 300, "b" + "ab" * 200) == "b" + "ab" * 200  # difflib drops what is frequent


@pytest.fixture
def far(monkeypatch):
    """A function from distances of neighbours to a metric that is told them, in the order of the text."""

    class Told:
        def __init__(self, table):
            self.table, self.calls = table, []

        def score(self, segments, runtime):
            from nlgauge.core.metric import signature_of
            from nlgauge.core.scores import Scores, ids

            self.calls.append(len(segments))
            values = np.array([self.table[s.references[0], s.hypothesis] for s in segments])
            flags = {name: np.isnan(values) for name in ("truncated", "unknown", "nonfinite")}
            return Scores(signature_of(ng.metric("chrf")), ids(segments), values, flags=flags)

    def put(table):
        told = Told(table)
        monkeypatch.setattr(Gruen, "_distance", lambda self: told)
        monkeypatch.setattr(Gruen, "facts", lambda self, runtime: {})
        return told

    return put


def test_one_far_neighbour_breaks_the_focus_and_more_break_it_no_further(far):
    told = far({("One two.", "Two three."): 1.2, ("Two three.", "Six seven."): 1.4, ("Six seven.", "One two."): 1.5})
    found = score("One two. Two three.", "One two. Two three. Six seven. One two.", "One two.", parts="focus")
    assert found.values == pytest.approx([1.0, 0.9, 1.0])
    assert found.parts["focus"] == pytest.approx([0.0, -0.1, 0.0])
    assert told.calls == [4]
    assert score("One two. Two three.", parts="focus", far=1.1).values == pytest.approx([0.9])
    score("One two. Two three.", parts="focus", far=1.2)
    assert told.calls == [4, 1, 1, 1]  # a close call is computed once more, alone


def test_both_parts_are_summed(far):
    far({("One two three.", "One two three."): 0.0, ("One two three.", "Six seven."): 1.4})
    found = score("One two three. One two three. Six seven.")
    assert found.values == pytest.approx([1 - 0.4 - 0.1])


def test_an_undefined_distance_leaves_the_text_undefined(far):
    far({("One two.", "Two three."): np.nan})
    found = score("One two. Two three.", "One two.")
    assert np.isnan(found.values).tolist() == [True, False]
    assert found.flags["unknown"].tolist() == [True, False]


def test_sentences_of_one_word_do_not_count():
    assert gruen._sentences("Yes. No! Well, yes.  Two   words. -- \u200b") == ["Well, yes.", "Two words."]
    assert score("Yes. Yes. Yes.", "Yes", parts="redundancy").values.tolist() == [1.0, 1.0]


def test_a_blank_text_gets_the_worst_value_and_too_many_sentences_are_undefined(monkeypatch):
    monkeypatch.setattr(gruen, "_MOST", 3)
    found = score("", " \u200b", "One two. Two three. Three four. Four five.", OLD, parts="redundancy")
    assert found.values[:2].tolist() == [0.0, 0.0]
    assert found.flags["empty"].tolist() == [True, True, False, False]
    assert np.isnan(found.values).tolist() == [False, False, True, False]
    assert found.flags["too_long"].tolist() == [False, False, True, False]


def test_focus_is_the_word_movers_distance_of_neighbours(tiny_model):
    model = str(tiny_model("bert"))
    text = "The cat sat on the mat. A dog lay on the rug. Heavy rain fell today."
    sentences = gruen._sentences(text)
    wmd = ng.metric("wmd", model=model)
    pairs = [Segment(str(i), sentences[i + 1], (sentences[i],)) for i in (0, 1)]
    farthest = wmd.score(pairs, Runtime(device="cpu")).values.max()
    for border, focus in ((farthest + 0.01, 0.0), (farthest - 0.01, -0.1)):
        assert score(text, parts="focus", model=model, far=border).parts["focus"] == pytest.approx([focus])


def test_gruen_keeps_the_contract_of_a_metric(tiny_model):
    check_metric(Gruen(model=str(tiny_model("bert")), far=0.5), SEGMENTS[:12], Runtime(device="cpu"))
    check_metric(Gruen(parts="redundancy"), SEGMENTS, Runtime(device="cpu"))


def test_it_says_what_it_leaves_out_and_refuses_what_it_has_not():
    assert Gruen().notes == ("redundancy and focus alone, without GRUEN's grammaticality and structure",)
    with pytest.raises(SpecError, match=r"^gruen:far is about focus and changes nothing under parts=redundancy$"):
        Gruen(parts="redundancy", far=1.0)
    with pytest.raises(SpecError, match=r"^gruen:parts is 'grammaticality'; known: focus"):
        Gruen(parts="grammaticality")
    with pytest.raises(SpecError, match=r"^gruen:far is 3"):
        Gruen(far=3.0)
