"""The table of segments: what is packed for it, and what a browser makes of it."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from nlgauge.core.marks import Alignment
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.core.suite import ScoredPair
from nlgauge.core.tables import Key, Origin, ScoreTable
from nlgauge.report.buckets import Buckets
from nlgauge.report.bundle.explorer import explorer_of
from nlgauge.report.bundle.page import bundle_html
from nlgauge.report.bundle.segments import segments_of

HOSTILE = [
    "</script><script>document.title='taken'</script>",
    "</style><img src=x onerror=document.title='taken'>",
    "javascript:document.title='taken'",
    "\u202eright to left\u202c and \u2066isolated\u2069",
    "nul \0 and bell \x07 and half \ud800",
    "]]>--><!--",
    "word " * 200_000,
]
# Two systems on three items: the careful one wins by 4, 2 and -1 in m; ter falls with quality.
NAMES = ("careful", "careless")
M = [5.0, 4.0, 3.0, 1.0, 2.0, 4.0]
TER = [0.5, 0.1, 0.3, 0.6, 0.2, 0.4]


def table(n=6, **columns):
    keys = tuple(Key(f"{NAMES[i // 3]}-{i % 3}", NAMES[i // 3], str(i % 3)) for i in range(n))
    columns = {k: np.array(v, float) for k, v in (columns or {"m": M, "ter": TER}).items()}
    return ScoreTable(keys, columns, "segment", "rows.tsv", (), {"ter": Origin(False)})


def segments():
    texts = ["The rain stops at noon.", "Snow falls.", "It is dry.", "Rain stops at dusk.", "Snow.", "It is wet today."]
    references = ["The rain stops at midday.", "Snow falls.", "It is dry."]
    rows = table()
    made = [
        Segment(key.id, text, (references[int(key.item)],), "a source", key.system, key.item)
        for key, text in zip(rows.keys, texts, strict=True)
    ]
    pairs = [
        ScoredPair("careful-0/negation", "negation", "It rains.", "It does not rain.", {"m": (1.0, 2.0, 0.0)}),
        ScoredPair(
            "careful-0/typos", "typos", "It rains.", "It rians.", {"m": (1.0, 1.0, 0.5), "ter": (0.5, 0.25, 0.0)}
        ),
        ScoredPair("careless-2/typos", "typos", "", "", {"m": (1.0, 2.0, 0.0)}),
    ]
    alignment = Alignment(
        ("Snow", "<b>"), ("Snow", "falls"), np.array([[1.0, 0.25], [0.5, 0.75]]), np.array([0.6, 0.4]),
        np.array([0.5, 0.5]), 0.9, 0.875, 0.887, Signature("bertscore", (("metric", "bertscore"),)),
    )  # fmt: skip
    found = segments_of([rows], [Dataset(tuple(made), "d")])
    buckets = [Buckets("length of the source", ("short", "long"), np.array([0, 1, 1, 0, 1, -1]))]
    found = replace(found, pairs=pairs, alignments={"careless-1": (2, alignment)})
    found.__dict__["buckets"] = buckets  # six texts are too few for buckets of their own
    return found


def unpacked(explorer):
    return json.loads(gzip.decompress(base64.b64decode(explorer.data)))


def test_texts_are_packed_once_and_named_by_their_place():
    data = unpacked(explorer_of(segments()))
    assert data["ids"][:2] == ["careful-0", "careful-1"]
    assert (data["systems"], data["system"]) == (["careful", "careless"], [0, 0, 0, 1, 1, 1])
    assert [data["texts"][k] for k in data["hyps"][:2]] == ["The rain stops at noon.", "Snow falls."]
    assert data["refs"][1] == [data["hyps"][1]]  # the same text
    assert len(set(data["texts"])) == len(data["texts"])
    assert data["items"][0] == data["items"][3] != data["items"][1]
    assert [(s["name"], s["falls"]) for s in data["scores"]] == [("m", False), ("ter ↓", True)]
    assert data["scores"][0]["values"] == M


def test_what_is_undefined_is_null_and_numbers_have_six_digits():
    data = unpacked(explorer_of(segments_of([table(2, m=[np.nan, 1 / 3])])))
    assert data["scores"][0]["values"] == [None, 0.333333]
    assert (data["texts"], data["hyps"]) == ([], [-1, -1])


def test_the_policy_of_the_page_allows_this_script_alone(made):
    whole = bundle_html({"a.json": made()["score"]}, segments=segments())
    script = re.search("<script>(.*?)</script>", whole, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall('Content-Security-Policy" content="([^"]+)"', whole)
    assert f"script-src 'sha256-{digest}'; require-trusted-types-for 'script'" in policy
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|https?:", script)
    assert len(script.encode()) < 20_000
    assert "script" not in bundle_html({"a.json": made()["score"]}).split("Content-Security-Policy")[1][:100]


def test_the_same_segments_give_the_same_bytes():
    assert explorer_of(segments()) == explorer_of(segments())


@pytest.fixture(scope="module")
def shown(chromium, tmp_path_factory):
    """The browser with the page of the six segments."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(bundle_html({}, segments=segments()), encoding="utf-8")
    chromium.open(path)
    return chromium


def asked(browser, **values):
    """The first cell of each row after some controls were set, and the others reset."""
    whole = {
        **dict.fromkeys(("text", "system", "bucket", "short", "long", "low", "high"), ""),
        "score": "0",
        "order": "file",
    }
    set_all = "".join(
        f"document.getElementById('x-{k}').value = {json.dumps(v)};" for k, v in {**whole, **values}.items()
    )
    browser.run(f"{set_all} document.getElementById('x-form').dispatchEvent(new Event('input'))")
    return browser.run("[...document.querySelectorAll('#x-table tbody button')].map(b => b.textContent)")


@pytest.mark.parametrize(
    ("controls", "found"),
    [
        ({}, "careful-0 careful-1 careful-2 careless-0 careless-1 careless-2"),
        ({"text": "NOON"}, "careful-0"),
        ({"text": "midday"}, "careful-0 careless-0"),  # in the reference of both
        ({"system": "1"}, "careless-0 careless-1 careless-2"),
        ({"short": "4", "system": "1"}, "careless-0 careless-2"),
        ({"low": "2", "high": "4"}, "careful-1 careful-2 careless-1 careless-2"),
        ({"order": "best"}, "careful-0 careful-1 careless-2 careful-2 careless-1 careless-0"),
        ({"order": "best", "score": "1"}, "careful-1 careless-1 careful-2 careless-2 careful-0 careless-0"),
        ({"order": "worst", "score": "1"}, "careless-0 careful-0 careless-2 careful-2 careless-1 careful-1"),
        ({"order": "beats"}, "careful-0 careful-1 careful-2"),  # by 4, 2 and -1
        ({"order": "beats", "one": "1", "two": "0"}, "careless-2 careless-1 careless-0"),
        ({"bucket": "0 1"}, "careful-1 careful-2 careless-1"),
        ({"order": "fails"}, "careful-0 careless-2"),
        ({"order": "fails", "score": "1"}, "careful-0"),
        ({"order": "match"}, "careless-1"),
        # shares below by m 1, .7, .4, 0, .2, .7 and by ter .2, 1, .6, 0, .8, .4: apart .8, .3, .2, 0, .6, .3
        ({"order": "apart", "other": "1"}, "careful-0 careless-1 careful-1 careless-2 careful-2 careless-0"),
    ],
)
def test_segments_are_filtered_and_sorted(shown, controls, found):
    assert asked(shown, **{"one": "0", "two": "1", **controls}) == found.split()
    status = shown.run("document.getElementById('x-status').textContent")
    assert status == f"{len(found.split())} of 6 segments"


def test_an_item_shows_what_each_system_wrote_with_differences(shown):
    asked(shown)
    shown.run("document.querySelector('#x-table tbody button').click()")
    panel = "document.getElementById('x-item')"
    assert shown.run(f"document.activeElement === {panel}")
    assert shown.run(f"[...{panel}.querySelector('table').querySelectorAll('tbody th')].map(c => c.textContent)") == [
        "careful",
        "careless",
    ]
    # midday became noon; in the other text "The rain" became "Rain"
    assert shown.run(
        f"[...{panel}.querySelector('table').querySelectorAll('tr:first-child del')].map(c => c.textContent)"
    ) == ["midday"]
    assert shown.run(
        f"[...{panel}.querySelector('table').querySelectorAll('tr:first-child ins')].map(c => c.textContent)"
    ) == ["noon"]
    shown.run(f"[...{panel}.querySelectorAll('button')].find(b => b.textContent === 'Close').click()")
    assert shown.run(f"{panel}.hidden && document.activeElement.textContent") == "careful-0"


def test_where_a_score_fails_its_audit_the_pairs_are_named_and_shown(shown):
    asked(shown, order="fails")
    cells = "[...document.querySelectorAll('#x-table tbody .named')].map(c => c.textContent)"
    assert shown.run(cells) == ["2: negation, typos", "1: typos"]
    shown.run("document.querySelector('#x-table tbody button').click()")
    rows = "[...document.querySelectorAll('#x-item > .apart + div tbody tr')]"
    read = "r => [r.cells[0].textContent, ...[...r.lastChild.children].map(d => d.textContent)]"
    assert shown.run(f"{rows}.map({read})") == [
        ["negation", "m 1.00 and 2.00"], ["typos", "m 1.00 and 1.00", "ter ↓ 0.5000 and 0.2500"],
    ]  # fmt: skip
    assert shown.run(f"{rows}[1].cells[2].textContent") == "It rainsrians."  # one word is gone, and one is new


def test_matched_words_are_a_table_that_needs_no_colour(shown):
    asked(shown, order="match")
    shown.run("document.querySelector('#x-table tbody button').click()")
    assert shown.run("document.querySelector('#x-item summary').textContent") == (
        "What careless has in common with its reference: precision 0.900, recall 0.875, F1 0.887; reference 2"
    )
    rows = "[...document.querySelectorAll('#x-item .map tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    assert shown.run(rows) == [["Snow 60", "1.00 ◂▴", "0.25 "], ["<b> 40", "0.50 ", "0.75 ◂▴"]]
    heads = "[...document.querySelectorAll('#x-item .map thead th')].map(c => c.textContent)"
    assert shown.run(heads) == ["text ↓ reference →", "Snow 50", "falls 50"]
    assert shown.run("document.querySelector('#x-item details').open")
    assert shown.said == []


def test_the_keys_go_from_row_to_row_and_heads_sort(shown):
    asked(shown)
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))"
    shown.run(f"document.querySelector('#x-table tbody button').focus(); {press}; {press}")
    assert shown.run("document.activeElement.textContent") == "careful-2"
    shown.run("document.querySelector('#x-table thead button').click()")
    assert shown.run("document.querySelector('#x-table [aria-sort]').getAttribute('aria-sort')") == "descending"
    assert shown.run("document.querySelector('#x-table tbody button').textContent") == "careful-0"


def test_nothing_is_asked_of_the_network_and_the_console_is_silent(shown):
    assert shown.said == []
    assert [url.partition(":")[0] for url in shown.asked] == ["file"]


def test_every_control_has_a_label(shown):
    unnamed = "[...document.querySelectorAll('input, select')].filter(c => !c.labels.length).map(c => c.id)"
    assert shown.run(unnamed) == []


def test_hostile_texts_stay_text(chromium, made, tmp_path):
    n = len(HOSTILE)
    keys = tuple(Key(text[:80], text[:80], "item") for text in HOSTILE)
    rows = ScoreTable(keys, {"</script><b>": np.arange(float(n))}, "segment", "r", (), {})
    texts = [Segment(text[:80], text, (text,), text, text[:80], "item") for text in HOSTILE]
    metric = {"spec": HOSTILE[0], "signature": HOSTILE[1], "higher_is_better": True, "flags": {}}
    results = {f"{HOSTILE[1]}.json": made(metric, HOSTILE[0])["score"]}
    path = tmp_path / "hostile.html"
    whole = bundle_html(results, HOSTILE[0], segments_of([rows], [Dataset(tuple(texts), "d")]))
    path.write_text(whole, encoding="utf-8")
    chromium.open(path)
    chromium.run("document.querySelector('#x-table tbody button').click()")
    assert chromium.run("document.title") == HOSTILE[0]
    assert chromium.run("document.querySelectorAll('script, img, iframe, object').length") == 2  # data and program
    cells = chromium.run("[...document.querySelectorAll('#x-table td.text')].map(c => c.textContent)")
    assert cells[:3] == HOSTILE[:3]
    assert cells[3] == "\ufffdright to left\ufffd and \ufffdisolated\ufffd"
    assert cells[4] == "nul \ufffd and bell \ufffd and half \ufffd"
    assert len(cells[6]) == 301
    assert chromium.said == []


def test_without_scripts_the_rest_is_there_and_the_page_says_so(chromium, made, tmp_path):
    path = tmp_path / "plain.html"
    path.write_text(bundle_html({"a.json": made()["score"]}, segments=segments()), encoding="utf-8")
    chromium.open(path, scripts=False)
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "needs a browser that runs scripts" in chromium.run("document.getElementById('x-status').textContent")
    assert chromium.run("getComputedStyle(document.getElementById('x-form')).display") == "none"


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_telephone_nothing_but_frames_scrolls_sideways(chromium, made, tmp_path, dark):
    path = tmp_path / "small.html"
    results = {f"{kind}.json": result for kind, result in made().items()}
    path.write_text(bundle_html(results, segments=segments()), encoding="utf-8")
    chromium.open(path, width=400, height=800, dark=dark)
    chromium.run("document.querySelector('#x-table tbody button').click()")
    assert chromium.run("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    outside = "e => e.getBoundingClientRect().right > 400.5 && !e.closest('.wide, .rows, svg')"
    beyond = f"[...document.querySelectorAll('body *')].filter({outside}).map(e => e.outerHTML.slice(0, 90))"
    assert chromium.run(beyond) == []
    assert chromium.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(21, 25, 30)" if dark else "rgb(255, 255, 255)"
    )


@pytest.mark.slow  # half a minute to make the page
def test_a_hundred_thousand_segments_stay_usable(chromium, tmp_path):
    n, rng = 100_000, np.random.default_rng(0)
    words = ["".join(map(chr, 97 + rng.integers(26, size=size))) for size in rng.integers(2, 11, size=20_000)]
    drawn = [" ".join(map(words.__getitem__, row)) for row in rng.integers(len(words), size=(n, 20)).tolist()]
    keys = tuple(Key(f"{NAMES[i % 2]}-{i // 2}", NAMES[i % 2], str(i // 2)) for i in range(n))
    rows = ScoreTable(keys, {name: rng.random(n) for name in ("m", "n", "o")}, "segment", "r", (), {})
    texts = [
        Segment(str(key.id), text, (drawn[i // 2],), None, key.system, key.item)
        for i, (key, text) in enumerate(zip(keys, drawn, strict=True))
    ]
    path = tmp_path / "large.html"
    path.write_text(bundle_html({}, segments=segments_of([rows], [Dataset(tuple(texts), "d")])), encoding="utf-8")
    assert path.stat().st_size < 25e6
    chromium.open(path)
    ask = "input.value = '%s'; form.dispatchEvent(new Event('input'))"
    names = "const form = document.getElementById('x-form'), input = document.getElementById('x-text')"
    for letters in ("", "ab"):  # benchmarks/report.py has the times; here, the rows that are made
        chromium.run(f"(() => {{ {names}; {ask % letters} }})()")
        told = chromium.run("document.getElementById('x-status').textContent")
        found = int(re.fullmatch(r"([\d,]+) of 100,000 segments", told)[1].replace(",", "")) if letters else n
        assert 1000 < found <= n
        assert chromium.run("document.querySelectorAll('#x-table tbody tr').length") < 60


def test_systems_in_another_order_than_their_names_stay_with_their_rows():
    systems = ["zeta", "alpha", "zeta", "mid"]
    keys = tuple(Key(str(i), system, str(i)) for i, system in enumerate(systems))
    rows = ScoreTable(keys, {"m": np.arange(4.0)}, "segment", "rows.tsv", (), {})
    data = unpacked(explorer_of(segments_of([rows])))
    assert data["systems"] == ["zeta", "alpha", "mid"]
    assert [data["systems"][k] for k in data["system"]] == systems
