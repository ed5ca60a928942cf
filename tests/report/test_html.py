import re

import jinja2
import pytest

from nlgauge.core.result import Result
from nlgauge.report.colours import contrast
from nlgauge.report.html import _environment, breakable, render
from nlgauge.report.pages import page


def style():
    return render("page.html").split("<style>")[1].split("</style>")[0]


def whole(colour):
    return colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])


def test_values_are_escaped_and_missing_ones_are_an_error():
    template = _environment().from_string("{% extends 'page.html' %}{% block body %}{{ word }}{% endblock %}")
    assert "<b>&amp;</b>" not in template.render(version="1", word="<b>&</b>")
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in template.render(version="1", word="<b>&</b>")
    with pytest.raises(jinja2.UndefinedError):
        template.render(version="1")


def test_the_base_page_fetches_nothing_and_forbids_it():
    page = render("page.html")
    assert "default-src 'none'" in page
    assert not any(sign in page for sign in ("http:", "https:", "<script", "url(", "@import", "src=", "href="))


def test_the_base_page_follows_the_preference_for_dark_with_text_that_can_be_read():
    parts = style().split("prefers-color-scheme: dark")
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", part)) for part in parts)
    assert "color-scheme: dark" in style()
    for theme in (light, dark):
        paper = whole(theme["paper"])
        for name in ("ink", "quiet", "hypothesis", "reference", "too-little", "too-much"):
            assert contrast(whole(theme[name]), paper) >= 4.5  # WCAG 2 for text
        for name in ("new", "gone", "moved"):
            assert contrast(whole(theme["ink"]), whole(theme[name])) >= 4.5
        assert contrast(whole(theme["dot"]), paper) >= 3  # and for what is drawn
    assert set(dark) == set(light)


def test_nothing_in_the_style_is_wider_than_a_telephone():
    widths = re.findall(r"[\s(](?:min-)?width: ([\d.]+)(px|rem)", style())
    assert max(float(n) * {"px": 1, "rem": 16}[unit] for n, unit in widths) < 200
    narrow = style().split("@media (max-width: 48rem)")[1]
    assert "max-width: 8.5rem" in narrow
    assert "overflow-wrap: anywhere" not in style().replace("monospace; overflow-wrap: anywhere", "")  # of code alone


def test_what_is_printed_is_whole():
    printed = style().split("@media print")[1]
    assert "overflow: visible" in printed
    assert re.search(r"table, tr, figure[^}]*break-inside: avoid", printed)


def test_a_long_name_breaks_after_its_signs_and_stays_text():
    assert breakable("subject_verb") == "subject_<wbr>verb"
    assert breakable('scores:file="<b>",x=1') == "scores:<wbr>file=&#34;&lt;b&gt;&#34;,<wbr>x=<wbr>1"


def test_characters_that_turn_or_control_the_text_are_seen_on_a_page():
    result = Result(
        "score",
        [
            {
                "system": "a\x1b[31m\u202eb\0",
                "metric": "m",
                "value": 1.0,
                "low": None,
                "high": None,
                "n": 1,
                "n_undefined": 0,
            }
        ],
        [{"path": "x\u2066.tsv", "sha256": "0" * 64}],
        [{"spec": "m", "signature": "metric:m", "higher_is_better": True, "flags": {}}],
        ["about \x07 bells"],
    )
    shown = page(result)
    assert not {"\x1b", "\u202e", "\u2066", "\0", "\x07"} & set(shown)
    assert "a\ufffd[31m\ufffdb\ufffd" in shown
