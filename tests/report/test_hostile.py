"""Hostile texts as names, words and notes stay text on every page: nothing runs, breaks, or is asked for."""

import pytest

# All but the first ones would do something: end the element that they stand in, run, turn a line, or end a string.
SHORT = [
    "</script><script>document.title = 'taken'</script>",
    "</style></title><img src=x onerror=\"document.title = 'taken'\">",
    "javascript:document.title='taken'",
    "\u202eright to left\u202c and \u2066isolated\u2069",
    "nul \0 and bell \x07 and half \ud800",
    "]]>--><!--{{ 7 * 7 }}</svg>",
    "https://example.invalid/x.png \" onclick=\"document.title='taken'",
]
STATE = """({
  title: document.title, foreign: document.querySelectorAll("img, iframe, object, embed, base, link").length,
  scripts: document.scripts.length,
  ran: [...document.querySelectorAll("*")].some(e => [...e.attributes].some(a => a.name.startsWith("on"))),
  links: [...document.querySelectorAll("[href], [src]")].map(e => e.getAttribute("href") ?? e.getAttribute("src"))
    .filter(url => !/^(#|data:(text\\/csv|application\\/json);base64,)/.test(url)),
  turned: /[\\0\\u0007\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.textContent) })"""


def shown(chromium, pages, folder):
    """What each page holds, once it is open and an item of its table is shown."""
    for name, text in pages.items():
        path = folder / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        chromium.open(path)
        chromium.run("document.querySelector('#x-table tbody button')?.click()")
        yield name, chromium.run


def test_no_text_is_taken_for_markup_where_there_is_no_browser(pages):
    evil = '"><script>alert("x")</script><b>\ud800'
    metric = {"spec": evil, "signature": evil, "higher_is_better": True, "flags": {}}
    for name, text in pages(evil, metric, evil).items():
        assert "<script>alert" not in text, name
        assert "<b>" not in text, name
        assert "&lt;script&gt;alert" in text, name
        assert text.encode("utf-8"), name


# The hostile text is each name and each word. Each text alone takes a second, so by day one text holds them all.
@pytest.mark.parametrize("text", ["".join(SHORT), *(pytest.param(one, marks=pytest.mark.slow) for one in SHORT)])
def test_hostile_texts_stay_text_on_every_page(chromium, pages, tmp_path, text):
    metric = {"spec": text, "signature": text, "higher_is_better": True, "flags": {}}
    for name, run in shown(chromium, pages(text, metric, text), tmp_path):
        state = run(STATE)
        assert state.pop("title") != "taken"
        scripts = 2 * (name == "report")  # its data and its program
        assert state == {"foreign": 0, "scripts": scripts, "ran": False, "links": [], "turned": False}, name
        assert chromium.said == [], name
        assert len(chromium.asked) == 1, name  # the page itself


@pytest.mark.slow  # several seconds of layout
def test_a_line_of_a_million_letters_breaks_no_page(chromium, pages, tmp_path):
    for name, run in shown(chromium, pages("word" * 250_000), tmp_path):
        assert run("document.documentElement.scrollWidth") <= 1280, name
        assert chromium.said == [], name
        assert len(chromium.asked) == 1, name
