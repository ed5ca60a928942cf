import unicodedata

import pytest

from nlgauge import InputError
from nlgauge.report import alignment_text
from nlgauge.report.labels import clean, columns


def test_it_shows_matches_weights_matrix_scores_and_signature(weather):
    text = alignment_text(weather, width=70)
    lines = text.splitlines()
    assert lines[0].startswith("precision 0.833  recall 0.66")
    assert lines[2].split() == ["hypothesis", "reference", "similarity", "weight"]
    assert lines[5].split()[:3] == ["freezing", "cold", ".79"]
    assert lines[5].split()[-1] == ".500"
    row = next(line for line in lines if line.startswith("freezing") and "◆" in line)
    assert row.split() == ["freezing", ".18", ".34", ".24", ".79◆", ".31"]
    # four row maxima and five column maxima share four cells; only "weather" has a match that does not choose it back
    assert (text.count("◆"), text.count("◂"), text.count("▴")) == (
        4 + 1,
        0 + 1,
        1 + 1,
    )  # one more of each in the line that explains them
    assert text.replace("\n", "").endswith(str(weather.signature))


@pytest.mark.parametrize("width", [24, 30, 40, 57, 80, 200])
@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 3), (3, 0), (1, 1), (4, 5), (40, 40)])
def test_no_line_is_wider_than_asked(make, n, m, width):
    text = alignment_text(make([f"hypothesis{i}" for i in range(n)], [f"今日{j}" * 3 for j in range(m)]), width)
    assert max(map(columns, text.splitlines())) <= width
    assert all(f"hypothesis{i}"[:3] in text for i in range(n if m else 0))


@pytest.mark.parametrize("width", [24, 80, 300])
def test_odd_words_stay_in_their_lines(odd, width):
    text = alignment_text(odd, width)
    assert max(map(columns, text.splitlines())) <= width
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in text.replace("\n", ""))
    if width == 300:
        assert all(clean(word)[:20] in text for word in odd.hypothesis)


def test_a_right_to_left_word_does_not_turn_its_line_round(make):
    assert "\u2068שלום\u2069" in alignment_text(make(["שלום"], ["peace"]))


def test_the_matrix_is_left_out_where_it_does_not_fit(make):
    wide = make(["word"] * 40, ["word"] * 40)
    assert "down" not in alignment_text(wide, 80)
    assert "Hypothesis down, reference across" in alignment_text(wide, 300)
    assert len(alignment_text(wide, 80).splitlines()) >= 80  # every word of both sides has its line


def test_bars_are_proportional_to_similarity(make):
    text = alignment_text(make(["a", "b", "c"], ["d"], [[1.0], [0.5], [-0.3]]), 80)
    bars = [line.count("█") for line in text.splitlines()[3:6]]
    assert bars == [24, 12, 0]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "sentence"),
    [
        ([], ["cold"], "The hypothesis is empty"),
        (["cold"], [], "The reference is empty"),
        ([], [], "Both texts are empty"),
    ],
)
def test_an_empty_side_is_named(make, hypothesis, reference, sentence):
    assert sentence in alignment_text(make(hypothesis, reference))


def test_a_terminal_too_narrow_is_refused(weather):
    with pytest.raises(InputError, match="at least 24"):
        alignment_text(weather, 23)
