import re
from html import unescape

import jinja2
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.drawing import contrast
from nlgauge.report.pages import _environment, bare, breakable, page, render_template, without_folders, write_result
from nlgauge.report.text import render

pytest.importorskip("jinja2")


def style():
    return render_template("page.html").split("<style>")[1].split("</style>")[0]


def whole(colour):
    return colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])


def test_values_are_escaped_and_missing_ones_are_an_error():
    template = _environment().from_string("{% extends 'page.html' %}{% block body %}{{ word }}{% endblock %}")
    assert "<b>&amp;</b>" not in template.render(version="1", word="<b>&</b>")
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in template.render(version="1", word="<b>&</b>")
    with pytest.raises(jinja2.UndefinedError):
        template.render(version="1")


def test_the_base_page_fetches_nothing_and_forbids_it():
    page = render_template("page.html")
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
    row = {"system": "a\x1b[31m\u202eb\0", "metric": "m", "value": 1.0, "low": None, "high": None, "n": 1}
    result = Result(
        "score",
        [{**row, "n_undefined": 0}],
        [{"path": "x\u2066.tsv", "sha256": "0" * 64}],
        [{"spec": "m", "signature": "metric:m", "higher_is_better": True, "flags": {}}],
        ["about \x07 bells"],
    )
    shown = page(result)
    assert not {"\x1b", "\u202e", "\u2066", "\0", "\x07"} & set(shown)
    assert "a\ufffd[31m\ufffdb\ufffd" in shown


# --- Pages name files, not folders; files with one name stay apart


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('scores:file="/home/me/theirs.tsv",column=ter', 'scores:file="theirs.tsv",column=ter'),
        ("metric:bertscore|model:/a/b/bert|layer:4", "metric:bertscore|model:bert|layer:4"),
        ("read /home/a.b/c.txt.", "read c.txt."),
        ("~/x/y.tsv and C:\\Users\\me\\z.tsv", "y.tsv and z.tsv"),
        ("/a/x.jsonl and /b/x.jsonl", "a/x.jsonl and b/x.jsonl"),
    ],
)
def test_absolute_paths_are_cut_to_what_tells_them_apart(text, shown):
    assert bare(text) == shown


@pytest.mark.parametrize("text", ["and/or n/a", "3 / 4 = .75", "sentence-transformers/all-MiniLM-L6-v2", "a | /x", ""])
def test_what_is_no_absolute_path_stays(text):
    assert bare(text) == text


def test_rows_and_metrics_keep_fitting_together_and_inputs_lose_their_folders():
    spec = "nli:model=/m/deberta"
    result = without_folders(
        Result(
            "score",
            [{"metric": spec, "dataset": "/a/b/x.tsv", "value": 1.0}],
            [{"path": path, "sha256": "0"} for path in ("/a/b/x.tsv", "data/y.tsv", "/q/b/x.tsv")],
            [{"spec": spec, "signature": f"metric:{spec}", "flags": {}}],
            ["/a/b/x.tsv: odd"],
            command="nlgauge score /a/b/x.tsv --html /out/page.html",
        )
    )
    assert [entry["path"] for entry in result.inputs] == ["a/b/x.tsv", "y.tsv", "q/b/x.tsv"]
    assert result.rows[0] == {"metric": "nli:model=deberta", "dataset": "a/b/x.tsv", "value": 1.0}
    assert result.metrics[0]["spec"] == "nli:model=deberta"
    assert result.command == "nlgauge score a/b/x.tsv --html page.html"
    assert list(result.notes) == ["a/b/x.tsv: odd"]


@pytest.mark.parametrize("name", ["s3://b/x", "a,/b/c", "http://x", "/x/y", "C:\\a\\b"])
def test_names_that_look_like_paths_stay_whole_and_files_do_not(name):
    result = Result(
        kind="score",
        inputs=[{"path": "/home/me/d.jsonl", "sha256": "0"}],
        metrics=[{"spec": "chrf"}],
        rows=[{"system": name, "metric": "chrf"}, {"system": "/home/me/d.jsonl", "metric": "chrf"}],
        notes=[f"system {name!r} of /home/me/d.jsonl has one segment"],
    )
    shown = without_folders(result)
    assert [row["system"] for row in shown.rows] == [name, "d.jsonl"]
    assert shown.notes == [f"system {name!r} of d.jsonl has one segment"]


# --- Every kind of result that has a page gets its own, written whole or not at all


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        ("score", "Scores of 0 systems"),
        ("audit", "Errors that this metric does not punish as people do"),
        ("meta", "Metrics against people"),
        ("select", "Which model is the best?"),
        ("sweep", "What metrics gain from each other"),
    ],
)
def test_each_kind_has_its_page(kind, heading):
    assert f"<h1>{heading}</h1>" in page(Result(kind, []))


def test_a_folder_that_is_missing_is_said(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        write_result(Result("score", []), tmp_path / "no" / "page.html", "html")
    assert list(tmp_path.iterdir()) == []


def test_no_page_fetches_anything(pages):
    for name, page_of in pages().items():
        shown = page_of.replace("http://www.w3.org", "")  # the name of a vocabulary
        assert not any(sign in shown for sign in ("http://", "https://", "url(", "@import")), name


def test_a_page_names_files_without_the_folders_of_its_author():
    inputs = [{"path": "/home/ann/private/a.jsonl", "sha256": "ab" * 32}]
    spec = 'scores:file="/home/ann/theirs.tsv",column=ter'
    rows = [{"system": "s", "metric": spec, "value": 1.0, "low": None, "high": None, "n": 1, "n_undefined": 0}]
    metrics = [{"spec": spec, "signature": f"metric:{spec}", "higher_is_better": False}]
    shown = page(Result("score", rows, inputs, metrics, ["read /home/ann/theirs.tsv"]))
    assert "/home" not in shown
    assert "ann" not in shown.replace("annot", "")
    assert "a.jsonl" in shown
    assert "theirs.tsv" in shown
    assert "1.0000" in shown  # rows still belong to their metric


# --- Results in files: the form that was asked for, or a reason

ROW = {"system": "a", "metric": "bleu", "value": 1.5, "low": None, "high": None, "n": 2, "n_undefined": 0}
RESULT = Result(
    "score", [ROW], (), [{"spec": "bleu", "signature": "metric:bleu", "higher_is_better": True}], ["a note"]
)


@pytest.mark.parametrize("form", ["tsv", "markdown", "latex", "text"])
def test_a_file_holds_what_render_gives(tmp_path, form):
    write_result(RESULT, tmp_path / "r", form)
    assert (tmp_path / "r").read_text(encoding="utf-8") == render(RESULT, form) + "\n"


def test_forms_that_a_result_does_not_have_are_refused(tmp_path):
    for kind, form in (("align", "markdown"), ("list", "html")):
        with pytest.raises(
            InputError, match=rf"^a result of kind '{kind}' has no (page|tables); write it as \.json or"
        ):
            write_result(Result(kind, [ROW]), tmp_path / "r", form)
    with pytest.raises(InputError, match=r"^unknown format 'xlsx'"):
        write_result(RESULT, tmp_path / "r", "xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    outcome = ng.compare(
        {"a": ["the cat", "a dog"], "<i>": ["the cat sat", "a cow"]}, ["the cat", "a dog"], metrics=["chrf"]
    )
    shown = outcome.plot()._repr_html_()
    assert shown == outcome.result().plot()._repr_html_()
    (source,) = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts allow-downloads" style="[^"]*"></iframe>', shown
    ).groups()
    assert unescape(source) == page(outcome.result())
    assert "<i>" not in source
    assert ng.align("the cat", "a cat").result().plot().count("<svg") == 1


def test_the_worst_segments_name_files_of_scores_without_their_folders():
    spec = 'scores:file="/home/ann/comet.tsv"'
    row = {"metric": spec, "system": "a", "value": 1.0, "low": None, "high": None, "n": 2, "n_undefined": 0}
    worst = {"metric": spec, "id": "1", "system": "a", "value": 0.5, "n": 2, "n_undefined": 0, "hyp": "x"}
    metric = {"spec": spec, "signature": spec, "higher_is_better": True}
    shown = page(Result("score", [row], metrics=[metric], worst=[worst]))
    assert "by scores:file=&#34;comet.tsv&#34;" in shown
    assert "/home/ann" not in shown
