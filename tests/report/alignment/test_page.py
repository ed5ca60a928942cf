import re
from html.parser import HTMLParser

import pytest

from nlgauge.report import alignment_html, alignment_svg
from nlgauge.report.labels import clean


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


@pytest.mark.parametrize(("hypothesis", "reference"), [([], ["cold"]), (["cold"], []), ([], [])])
def test_an_empty_side_makes_a_page_without_tables(make, hypothesis, reference):
    source = alignment_html(make(hypothesis, reference))
    assert "empty: there is nothing to match." in source
    assert "<table>" not in source
