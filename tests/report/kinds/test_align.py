import re
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge import InputError
from nlgauge.core.marks import Alignment
from nlgauge.core.spec import Signature
from nlgauge.report.drawing import luminance
from nlgauge.report.kinds.align import (
    HYPOTHESIS,
    REFERENCE,
    alignment_html,
    alignment_svg,
    alignment_text,
    bar_shares,
    similarity_scale,
)
from nlgauge.report.labels import clean, columns


def aligned(hypothesis, reference, similarities=None, weights=None):
    """An alignment of given words; similarities from a fixed stream unless given."""
    n, m = len(hypothesis), len(reference)
    if similarities is None:
        similarities = np.random.default_rng(0).uniform(-0.2, 1, (n, m))
    similarities = np.asarray(similarities, dtype=float).reshape(n, m)
    own, other = weights or (np.full(n, 1 / max(n, 1)), np.full(m, 1 / max(m, 1)))
    precision = float(own @ similarities.max(axis=1)) if n and m else 0.0
    recall = float(other @ similarities.max(axis=0)) if n and m else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    signature = Signature(
        "bertscore", (("metric", "bertscore"), ("model", "<hub>/&name"), ("layer", "4"), ("nlgauge", "0.1.0"))
    )
    return Alignment(tuple(hypothesis), tuple(reference), similarities, own, other, precision, recall, f1, signature)


@pytest.fixture
def make():
    return aligned


@pytest.fixture
def weather():
    """Four words against five: it-the, is-is, freezing-cold and today-today choose each other, weather chooses it."""
    similarities = [
        [0.60, 0.35, 0.42, 0.20, 0.25],
        [0.41, 0.30, 0.93, 0.22, 0.28],
        [0.18, 0.34, 0.24, 0.79, 0.31],
        [0.22, 0.29, 0.26, 0.33, 0.95],
    ]
    weights = (np.array([0.1, 0.1, 0.5, 0.3]), np.array([0.05, 0.35, 0.05, 0.35, 0.2]))
    return aligned(["it", "is", "freezing", "today"], ["the", "weather", "is", "cold", "today"], similarities, weights)


ODD = [
    "<script>alert(1)</script>",
    "a&b",
    "\"q'",
    "x\x00\x1b[31m",
    "\ud800",
    "\n",
    "",
    "今日は",
    "👨\u200d👩\u200d👧",
    "שלום!",
    "e\u0301",
    "w" * 200,
]


@pytest.fixture
def odd():
    return aligned(ODD, ODD[::-1])


SVG = "{http://www.w3.org/2000/svg}"


def drawn(alignment):
    return ElementTree.fromstring(alignment_svg(alignment))


def group(root, name):
    (found,) = (g for g in root.iter(SVG + "g") if g.get("class") == name)
    return found


def words(labels):
    """The full words behind labels: the title of a shortened one, the text of any other."""
    return [title.text if (title := text.find(SVG + "title")) is not None else text.text for text in labels]


def marked(root, name, colour):
    """The (row, column) cells that hold the marks of one colour, in order."""
    cells = group(root, "cells").findall(SVG + "rect")
    ys = sorted({float(cell.get("y")) for cell in cells})
    xs = sorted({float(cell.get("x")) for cell in cells})
    width, height = float(cells[0].get("width")), float(cells[0].get("height"))
    found = []
    for path in group(root, name):
        if path.get("stroke") == colour:
            points = [tuple(map(float, point)) for point in re.findall(r"M([\d.]+) ([\d.]+)", path.get("d"))]
            assert len(points) == 2
            (cell,) = {
                (i, j)
                for x, y in points
                for i, top in enumerate(ys)
                for j, left in enumerate(xs)
                if top <= y <= top + height and left <= x <= left + width
            }
            found.append(cell)
    return found


def test_matches_are_the_maxima_of_rows_and_columns(weather):
    # read off the matrix: row maxima .60 .93 .79 .95, column maxima .60 .35 .93 .79 .95
    root = drawn(weather)
    assert marked(root, "row-matches", HYPOTHESIS) == [(0, 0), (1, 2), (2, 3), (3, 4)]
    assert marked(root, "column-matches", REFERENCE) == [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4)]


def test_the_picture_holds_words_numbers_weights_scores_and_signature(weather):
    root = drawn(weather)
    assert words(group(root, "rows")) == list(weather.hypothesis)
    assert words(group(root, "columns")) == list(weather.reference)
    numbers = [text.text for text in group(root, "numbers")]
    assert numbers[:5] == [".60", ".35", ".42", ".20", ".25"]
    assert len(numbers) == 20
    assert [text.text for text in group(root, "row-weights").findall(SVG + "text")] == [".10", ".10", ".50", ".30"]
    said = "".join(root.itertext())
    # P = .1 * .60 + .1 * .93 + .5 * .79 + .3 * .95 = .833; R = .05 * .60 + .35 * .35 + .05 * .93 + .35 * .79 + .2 * .95
    # = .6655, F = .7399
    assert "precision 0.833" in said
    assert re.search(r"recall 0\.66[56]", said)
    assert "F1 0.740" in said
    assert str(weather.signature) in said


def test_bars_are_proportional_to_weights(weather):
    rows = [float(bar.get("width")) for bar in group(drawn(weather), "row-weights").findall(SVG + "rect")]
    assert rows == pytest.approx(
        [max(rows) * w / 0.5 for w in (0.1, 0.1, 0.5, 0.3)], abs=0.02
    )  # places are rounded to a hundredth
    columns = [float(bar.get("height")) for bar in group(drawn(weather), "column-weights").findall(SVG + "rect")]
    assert columns == pytest.approx([max(columns) * w / 0.35 for w in (0.05, 0.35, 0.05, 0.35, 0.2)], abs=0.02)


def test_more_similar_cells_are_darker(weather):
    shades = [luminance(cell.get("fill")) for cell in group(drawn(weather), "cells").findall(SVG + "rect")]
    order = np.argsort(weather.similarities.ravel(), kind="stable")
    assert np.all(np.diff(np.array(shades)[order]) <= 0)
    assert len(set(shades)) > 10


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 5), (3, 40), (40, 3), (120, 90)])
def test_everything_lies_inside_the_picture_and_labels_do_not_collide(make, n, m):
    long = "Extraordinarily"
    root = drawn(
        make([f"{long}{i}" if i % 3 else "a" for i in range(n)], [f"{long}{j}" if j % 2 else "of" for j in range(m)])
    )
    width, height = float(root.get("width")), float(root.get("height"))
    for element in root.iter():
        if element.tag in (SVG + "rect", SVG + "text") and element.get("x"):
            assert 0 <= float(element.get("x")) <= width - float(element.get("width", 0)) + 0.01
            assert 0 <= float(element.get("y")) <= height - float(element.get("height", 0)) + 0.01
    assert width <= 1200 or max(n, m) > 40
    baselines = [float(text.get("y")) for text in group(root, "rows")]
    size = float(group(root, "rows").get("font-size"))
    assert size >= 11
    assert len(baselines) == n
    assert np.all(np.diff(baselines) >= size * 1.2)  # lines of text need about 1.2 of their size
    places = [
        float(x)
        for x in re.findall(r"translate\(([\d.]+)", ElementTree.tostring(group(root, "columns"), encoding="unicode"))
    ]
    assert np.all(
        np.diff(places) * np.sin(np.pi / 4) >= size * 0.99
    )  # slanted by 45 degrees: what lies between two baselines
    assert len(group(root, "cells").findall(SVG + "rect")) == n * m


def test_labels_get_room_for_wide_characters(make):
    def label_room(word):
        return float(group(drawn(make([word] * 30, ["a"] * 30)), "cells").find(SVG + "rect").get("x"))

    assert label_room("今日はとても寒い") > label_room("abcdefgh") > 0


def test_odd_words_are_escaped_and_kept(odd):
    source = alignment_svg(odd)
    root = ElementTree.fromstring(source.encode("utf-8"))
    assert words(group(root, "rows")) == [clean(word) for word in odd.hypothesis]
    assert words(group(root, "columns")) == [clean(word) for word in odd.reference]
    assert "<script" not in source
    drawn_with = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert drawn_with <= {"svg", "title", "desc", "g", "rect", "path", "text", "tspan"}


@given(
    st.lists(st.text(st.characters(), max_size=6), max_size=4),
    st.lists(st.text(st.characters(), max_size=6), max_size=4),
)
def test_any_words_make_well_formed_xml(hypothesis, reference):
    n, m = len(hypothesis), len(reference)
    signature = Signature("x", (("metric", "\x00"),))
    alignment = Alignment(
        tuple(hypothesis), tuple(reference), np.zeros((n, m)), np.ones(n), np.ones(m), 0.0, 0.0, 0.0, signature
    )
    root = ElementTree.fromstring(alignment_svg(alignment).encode("utf-8"))
    assert words(group(root, "rows")) == [clean(word) for word in hypothesis]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "sentence"),
    [
        ([], ["cold", "today"], "The hypothesis is empty"),
        (["cold", "today"], [], "The reference is empty"),
        ([], [], "Both texts are empty"),
    ],
)
def test_an_empty_side_is_named_and_the_other_is_drawn(make, hypothesis, reference, sentence):
    root = drawn(make(hypothesis, reference))
    assert any(text.text and text.text.startswith(sentence) for text in root.findall(SVG + "text"))
    assert words(group(root, "rows")) + words(group(root, "columns")) == hypothesis + reference
    assert not [g for g in root.iter(SVG + "g") if g.get("class") in ("cells", "row-matches", "column-matches")]
    assert sentence in alignment_text(make(hypothesis, reference))
    page = alignment_html(make(hypothesis, reference))
    assert f"{sentence}: there is nothing to match." in page
    assert "<table>" not in page


def test_the_picture_speaks_to_those_who_do_not_see_it(weather):
    root = drawn(weather)
    assert root.get("role") == "img"
    assert root[0].tag == SVG + "title"
    assert root[1].tag == SVG + "desc"
    assert "freezing → cold .79" in root[1].text
    assert root.find(SVG + "rect").get("fill") == "#ffffff"  # white also on a dark page


def test_undefined_numbers_are_drawn_as_such(make):
    alignment = make(["a", "b"], ["c"], [[np.nan], [0.5]])
    assert [text.text for text in group(drawn(alignment), "numbers")] == ["–", ".50"]
    assert similarity_scale(np.array([[np.nan]])) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.12, 0.98], (0.1, 1.0)),
        ([0.85, 0.97], (0.85, 1.0)),
        ([1.0, 1.0], (0.9, 1.0)),
        ([-0.11, 0.4], (-0.15, 0.4)),
        ([0.5], (0.4, 0.5)),
    ],
)
def test_the_scale_is_the_range_of_the_data_in_twentieths(values, scale):
    assert similarity_scale(np.array([values])) == pytest.approx(scale)


def test_weights_of_nothing_have_no_bars():
    assert bar_shares(np.zeros(3)).tolist() == [0, 0, 0]
    assert bar_shares(np.zeros(0)).shape == (0,)


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


@pytest.mark.parametrize("width", [24, 57, 200])
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


def test_a_terminal_too_narrow_is_refused(weather):
    with pytest.raises(InputError, match="at least 24"):
        alignment_text(weather, 23)


class Page(HTMLParser):
    """The tags of a page, the texts of its table cells, and all that would be fetched."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.cells, self.fetched, self.open = [], [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.fetched += [
            value
            for name, value in attributes
            if name in ("src", "href", "xlink:href", "srcset", "data") or name.startswith("on")
        ]
        if tag == "td":
            self.cells.append("")
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "td" in self.open:
            self.cells[-1] += data


def test_it_is_one_file_with_the_picture_and_nothing_fetched(weather):
    source = alignment_html(weather)
    page = Page(source)
    assert alignment_svg(weather) in source
    assert page.fetched == []
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not re.search(r"url\(|@import", source)
    assert set(re.findall(r"https?://[^\"'\s<]+", source)) == {
        "http://www.w3.org/2000/svg"
    }  # the name of a vocabulary, not fetched


def test_its_tables_hold_every_word_with_its_match(weather):
    cells = Page(alignment_html(weather)).cells
    rows = [cells[k : k + 5] for k in range(0, len(cells), 5)]
    assert [row[0] for row in rows] == [*weather.hypothesis, *weather.reference]
    assert rows[2] == ["freezing", "cold", ".79", "", ".500"]
    assert rows[5] == ["weather", "it", ".35", "", ".350"]


def test_odd_words_are_escaped(odd):
    source = alignment_html(odd)
    source.encode("utf-8")
    page = Page(source)
    assert "<script" not in source
    assert "<hub>" not in source
    assert page.cells[::5] == [clean(word) for word in (*odd.hypothesis, *odd.reference)]
