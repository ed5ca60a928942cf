"""Results in words: the box beside a score, every form, differences of texts, and what a notebook shows."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.core.scores import Scores, count_notes, in_brief
from nlgauge.core.spec import Signature
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.learned.regressor import from_ratings
from nlgauge.report.bundle import bundle_html
from nlgauge.report.pages import page
from nlgauge.report.tables import FORMS
from nlgauge.report.text import (
    check_form,
    doubts_of,
    marked,
    pieces,
    printed,
    render,
    result_html,
    scores_html,
    shared,
    suite_html,
    trust_of,
)


@pytest.mark.parametrize("kind", ["score", "meta", "preference"])
def test_the_model_of_a_number_is_named_below_its_table_once_in_every_form(made, kind):
    bertscore = "metric:bertscore|model:embedded|weights:sha256:53aa51172d142c89"
    result = replace(made()[kind], metrics=[{**made()[kind].metrics[0], "signature": bertscore}])
    spec = result.metrics[0]["spec"]
    line = f"{spec}: all-MiniLM-L6-v2; bert-score means roberta-large, here paper/bertscore"
    for form in ("text", "markdown", "latex"):
        assert render(result, form).count(line) == 1
    for html in (page(result), result_html(result), bundle_html({"a": result})):
        assert html.count(line) == 1
    assert line in printed(result)
    assert line not in render(result, "text", quiet=True)
    assert result.as_json()["metrics"][0]["models"] == {spec: line.removeprefix(f"{spec}: ")}


def test_agreement_is_the_mean_over_groups_with_where_it_was_found(made):
    trust = trust_of(made()["score"], {"r": made()["meta"]})["chrf"]
    (fact,) = trust.agreement
    assert fact.text == "kendall_b 0.500 [0.250, 0.750] with adequacy, level item, n 12"
    assert (fact.where, fact.link) == ("on these texts", "r")  # the same digest of the input
    assert not trust.audited


def test_the_failure_that_is_worst_for_certain_comes_first(made):
    # jumble deviates by 0.7 at least, negation errs on 1 - 0.6, typos on 1 - 0.8; typos of the checklist by 0 at least
    trust = trust_of(made()["score"], {"p": made()["preference"], "c": made()["checklist"]})["chrf"]
    assert [fact.text for fact in trust.faults] == [
        "jumble: drops by 0.10 and people by 0.90, too little (n 9)",
        "negation: right on 2 of 8 pairs, 0.25 (0.10 to 0.60)",
        "typos: right on 4 of 8 pairs, 0.50 (0.20 to 0.80)",
    ]
    assert [fact.where for fact in trust.faults] == ["on these texts", *["on other texts: other.jsonl"] * 2]


def test_texts_are_counted_with_what_happened_to_them(made):
    assert trust_of(made()["score"], {})["chrf"].texts == "7 scored: 2 empty, 0 truncated, 1 undefined"


def test_what_another_signature_got_says_so(made):
    other = made()["meta"]
    other = Result("meta", other.rows, other.inputs, [{**other.metrics[0], "signature": "metric:chrf|nlgauge:2"}])
    (fact,) = trust_of(made()["score"], {"r": other})["chrf"].agreement
    assert fact.where == "on these texts, by another signature"


@pytest.mark.parametrize(("kinds", "said"), [(["score"], 2), (["score", "meta"], 1), (["score", "checklist"], 1)])
def test_what_is_not_known_is_said(made, kinds, said):
    whole = bundle_html({f"{kind}.json": made()[kind] for kind in kinds})
    assert whole.count("Not known: ") == said


def test_an_agreement_whose_interval_holds_chance_says_so(made):
    meta = made()["meta"]
    rows = [{**row, "low": -0.1} for row in meta.rows]
    (fact,) = trust_of(made()["score"], {"r": Result("meta", rows, meta.inputs, meta.metrics)})["chrf"].agreement
    assert fact.text == "kendall_b 0.500 [-0.100, 0.750] with adequacy, level item, n 12; may be chance"


def test_doubts_are_read_from_the_notes_that_are_written():
    german = ["Der Hund schläft auf dem Sofa.", "Die Katze ist nicht im Garten.", "Wir haben das Buch gelesen."] * 4
    scored = ng.compare({"a": german, "b": german[::-1]}, german, metrics=["qbleu1", "chrf"]).result()
    assert doubts_of(scored) == {
        "qbleu1": "24 of 24 segments look German, and its question words and stop words are English"
    }
    (cut,) = count_notes("nli", {"truncated": 4}, 40, "pairs", first={"truncated": ["1 (2)", "3"]})
    learnt = f"set: mine: {from_ratings('mine.jsonl')}"
    metrics = [{"spec": spec, "signature": "", "higher_is_better": True} for spec in ("nli", "mine")]
    made = Result("meta", [], metrics=metrics, notes=[cut, learnt])
    assert doubts_of(made) == {
        "nli": "4 of 40 pairs are longer than its model reads",
        "mine": "it was trained on human ratings, perhaps on these",
    }


# --- Results in every form: what stands before and behind the tables, and what a narrow terminal changes

NAN = float("nan")


def scores(*names, **more):
    row = {"system": "s", "value": 1.0, "low": None, "high": None, "n": 1, "n_undefined": 0, **more}
    metrics = [{"spec": name, "signature": f"metric:{name}", "higher_is_better": True} for name in names]
    return Result("score", [{**row, "metric": name} for name in names], metrics=metrics, notes=["be careful"])


def audited(*metrics):
    rows = [
        {"metric": m, "phenomenon": "typos", "group": None, "n": 4, "ties": 0, "accuracy": 0.5, "low": 0.1, "high": 0.9}
        for m in metrics
    ]
    about = [{"spec": m, "signature": f"metric:{m}", "higher_is_better": True} for m in metrics]
    return Result("audit", rows, metrics=about)


def test_text_ends_in_signatures_and_notes_unless_it_is_quiet():
    table = "system  bleu    n\n------  ------  -\ns       1.0000  1".replace("bleu  ", "  bleu")
    assert render(scores("bleu"), quiet=True) == table
    assert render(scores("bleu")) == f"{table}\n\nbleu = metric:bleu\n\nnote: be careful"


def test_brief_text_leaves_p_values_of_pairs_and_names_of_texts_to_an_option():
    (note,) = count_notes("bleu", {"empty": 2}, 3, first={"empty": ["x", "y"]})
    pair = {"against": "t", "p": 0.01, "p_adjusted": 0.02, "test": "paired_bootstrap"}
    plain = of_systems(["s", "t"], "bleu")
    result = replace(plain, rows=[*plain.rows, {**plain.rows[0], **pair}], notes=[note])
    whole, brief = render(result), render(result, brief=True)
    assert "p of bleu" in whole
    assert "(x, y)" in whole
    assert "p of bleu" not in brief
    assert "p-values of every two systems: -v, --json FILE or --html FILE" in brief
    assert brief.endswith(
        "note: bleu: 2 of 3 segments have an empty side; they get the worst value\n"
        "note: -v shows signatures and the texts that notes count"
    )
    assert "bleu = metric:bleu" in whole
    assert "bleu = metric:bleu" not in brief
    assert "-v" not in render(result, brief=True, hints=False)
    assert "p of bleu" in render(result, "markdown", brief=True)  # a page for a paper is whole


def test_a_paper_has_no_notes_on_intervals_that_it_leaves_out():
    notes = ["[low, high] of pearson: 95 %", "intervals from 9 items are too narrow", "p: 1000 draws"]
    result = Result("score", [], metrics=[], notes=notes)
    assert "p: 1000 draws" in render(result, "latex", brief=True)
    assert "low, high" not in render(result, "latex", brief=True)
    assert "too narrow" not in render(result, "latex", brief=True)
    assert "too narrow" in render(result, "latex")


def test_brief_text_has_three_notes_but_all_that_say_that_a_number_means_nothing():
    cut = [f"{name}: 9 of 9 segments have a text longer than the model reads, cut to its limit" for name in "abcd"]
    (count,) = count_notes("a", {"empty": 2}, 9, first={"empty": ["x", "y"]})
    plain = ["first", "second", "third"]
    few, many = (replace(scores(*"abcd"), notes=[*plain, count, *odd]) for odd in ([], cut))
    lines = [line for line in render(few, brief=True).split("\n") if line.startswith("note: ")]
    assert lines == [
        *(f"note: {note}" for note in (*in_brief([count]), *plain[:2])),
        "note: -v shows signatures, 1 more note and the texts that notes count",
    ]
    lines = [line for line in render(many, brief=True).split("\n") if line.startswith("note: ")]
    assert lines[:-1] == [f"note: {note}" for note in cut]
    assert lines[-1] == "note: -v shows signatures, 4 more notes and the texts that notes count"
    assert all(note in render(many) for note in many.notes)


@pytest.mark.parametrize("result", [scores("bleu"), audited("bleu")], ids=["score", "audit"])
def test_print_shows_a_result_as_the_command_does(result):
    assert str(result) == render(result, brief=True, hints=False)


def test_a_star_is_explained_where_there_is_a_test():
    result = scores("bleu", p=0.01, baseline="z", low=0.5, high=1.5)
    assert "\n* p < 0.05 against the baseline\n\n" in render(result)
    assert render(result, quiet=True).endswith("\n* p < 0.05 against the baseline")


def test_a_table_wider_than_the_terminal_is_turned():
    # many metrics and few systems: one table of lines can be read, and a table for each metric cannot
    text = render(scores("first-long-name", "second-long-name", "x"), quiet=True, columns=40)
    assert text.split("\n") == [
        "metric                 s",
        "----------------  ------",
        "first-long-name   1.0000",
        "second-long-name  1.0000",
        "x                 1.0000",
        "n                      1",
    ]


def of_systems(systems, *names):
    """Scores of several systems."""
    result = scores(*names)
    return replace(result, rows=[{**row, "system": system} for row in result.rows for system in systems])


def test_a_turned_table_that_is_too_wide_is_split_by_systems_or_by_metrics_into_as_few_tables_as_fit():
    by_system = render(of_systems(("first", "second", "third"), *"abcdefgh"), quiet=True, columns=24)
    assert [part.split("\n")[0] for part in by_system.split("\n\n")] == ["metric   first  second", "metric   third"]
    by_metric = render(of_systems("stuvwxyz", "name-1", "name-2"), quiet=True, columns=24)
    assert [part.split("\n")[0] for part in by_metric.split("\n\n")] == ["system  name-1  n", "system  name-2  n"]
    assert max(map(len, f"{by_system}\n{by_metric}".split("\n"))) <= 24


def test_a_paper_is_as_wide_on_every_terminal():
    names = [f"a-long-name-{i}" for i in range(20)]
    assert render(scores(*names[:5]), "markdown", columns=40).split("\n")[2].count("|") == 8
    wide = render(scores(*names), "markdown", columns=40)
    assert wide.split("\n")[2:5] == ["| metric | s |", "| --- | ---: |", "| a-long-name-0 | 1.0000 |"]
    assert wide == render(scores(*names), "markdown", columns=400)


def test_papers_get_signatures_and_notes_and_quiet_latex_keeps_its_signature():
    result = replace(scores("bleu", p=0.01, baseline="z", low=0.5, high=1.5), command="nlgauge score x_y")
    lines = render(result, "markdown").split("\n")
    assert lines[-5:] == [
        "\\* p < 0.05 against the baseline",
        "",
        "- bleu: `metric:bleu`",
        "- be careful",
        "- `nlgauge score x_y`",
    ]
    lines = render(result, "latex").split("\n")
    assert [line for line in lines if line.startswith("%")] == [
        "% bleu = metric:bleu",
        "% note: be careful",
        "% nlgauge score x_y",
    ]
    quiet = [line for line in render(result, "latex", quiet=True).split("\n") if line.startswith("%")]
    assert quiet == ["% bleu = metric:bleu", "% nlgauge score x_y"]
    assert render(result, "markdown", quiet=True).endswith("against the baseline")


def test_an_error_rate_says_that_lower_is_better():
    result = scores("ter")
    result.metrics[0]["higher_is_better"] = False
    assert "ter (lower is better) = metric:ter" in render(result)


def test_an_unknown_form_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown format 'markdwn' of what is printed; did you mean"):
        check_form("markdwn")
    with pytest.raises(InputError, match="unknown format"):
        render(scores("bleu"), "html")
    assert FORMS == ("text", "json", "tsv", "csv", "markdown", "latex")


def test_an_audit_shows_its_worst_cases_with_the_edit_marked():
    case = {"id": "7", "phenomenon": "typos", "margin": -0.25, "reference": None, "better": "a b", "worse": "a c"}
    text = render(audited("chrf"), worst={"chrf": [case]}, quiet=True)
    assert text.split("\n\n")[1].split("\n") == [
        "worst cases of chrf",
        "  7 (typos), margin -0.25",
        "    compared with  a b",
        "    better  a b",
        "    worse   a [c]",
    ]


def test_intervals_of_an_audit_are_shown_where_they_are_asked_for():
    assert "[0.10, 0.90]" in render(audited("chrf"), digits=2, full=True)
    assert "[" not in render(audited("chrf"), digits=2)


def test_values_lose_their_intervals_where_the_terminal_is_narrow_and_stars_are_explained():
    about = {"metric": "a-metric", "criterion": "q", "level": "segment", "averaging": "none", "stat": "pearson"}
    known = {"group": "g", "value": 0.5, "low": 0.4, "high": 0.6, "n_used": 9, "ties": None, "chance": 0.0}
    row = {**about, **known, "rank": 1, "not_outperformed": True}
    result = Result("meta", [row])
    assert "0.500 [0.400, 0.600]" in render(result)
    narrow = render(result, columns=20)
    assert "[0.400" not in narrow
    assert "\n* no other metric is significantly better (p < 0.05)\nrank: a new rank begins where" in narrow


def test_a_synthesis_ends_in_its_signature():
    about = {"spec": "synthesize", "signature": "synthesis:stratified", "higher_is_better": True}
    row = {"operation": "all", "texts": 1, "edits": 2, "share": 1.0, "severity": -3.0, "major": 0.5, "score": -6.0}
    lines = render(Result("synth", [row], metrics=[about], notes=["left alone"])).split("\n")
    assert (len(lines), lines[-1]) == (5, "synthesis:stratified")
    none = render(Result("synth", [{**row, "edits": 0}], metrics=[about]))
    assert none == "no triples: every text was left alone"


def test_quiet_keeps_in_one_line_which_numbers_mean_nothing():
    notes = ["bleu: 9 of 12 segments (1, ...) look German: the model reads English; name another", "1 reference each"]
    result = replace(scores("bleu"), notes=notes)
    said = "note: do not rely on bleu: 9 of 12 segments look German, and the model reads English"
    assert render(result, quiet=True).split("\n\n")[1:] == [said]
    assert f"% {said}" in render(result, "latex", quiet=True).split("\n")
    assert said in render(result, "markdown", quiet=True)


def test_latex_holds_what_a_paper_prints_and_the_option_the_rest():
    # sacrebleu's form: p in brackets, no interval and no matrix of p-values; of a scale to 1 two decimals more
    rows = []
    for name, value, delta, p in (("s", 50.444, None, None), ("t", 52.123, 1.7, 0.0004), ("u", 51.0, 0.6, 0.4593)):
        own = {"system": name, "value": value, "low": value - 3, "high": value + 3, "n": 9, "n_undefined": 0}
        rows.append({**own, "metric": "bleu", "baseline": "s", "delta": delta, "p": p, "p_adjusted": None})
        rows.append({**rows[-1], "metric": "bertscore", "value": value / 100})
    metrics = [
        {"spec": spec, "signature": "", "higher_is_better": True, "range": [0.0, high]}
        for spec, high in (("bleu", 100.0), ("bertscore", 1.0))
    ]
    result = Result("score", rows, metrics=metrics)
    lines = render(result, "latex", 1, brief=True).split("\n")
    assert r"s (baseline) & 50.4 & 0.504 & 9 \\" in lines
    assert r"t & \textbf{52.1* (p \textless{} 0.001)} & \textbf{0.521* (p \textless{} 0.001)} & 9 \\" in lines
    assert r"u & 51.0 (p = 0.46) & 0.510 (p = 0.46) & 9 \\" in lines
    assert r"\caption{scores of 3 systems, p: test against the baseline s}" in lines
    assert r"s (baseline) & 50.44 & 0.5044 & 9 \\" in render(result, "latex", brief=True).split("\n")
    assert "[47.44, 53.44]" in render(result, "latex")
    pair = {"against": "t", "p": 0.01, "p_adjusted": 0.02, "test": "paired_bootstrap"}
    ranked = [{**row, "rank": 1, "baseline": None, "p": None} for row in rows[:4:2]]
    pairs = Result("score", [*ranked, {**ranked[0], **pair}], metrics=metrics[:1])
    brief = render(pairs, "latex", brief=True)
    assert "rank 1 " not in brief
    assert brief.count(r"\begin{tabular}") == 1
    assert render(pairs, "latex").count(r"\begin{tabular}") == 2


# --- Differences of texts: what is new is marked, and the pieces make up the newer text


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("It rains.", "It rains.", "It rains."),
        ("He came in May.", "She came in May.", "[She] came in May."),
        ("It was red.", "It was not red.", "It was [not ]red."),
        ("A big house.", "A house.", "A[] house."),
        ("A cat sat on the old mat.", "A big dog sat on the mat.", "A [big dog] sat on the []mat."),
    ],
)
def test_marks(before, after, shown):
    assert marked(before, after) == shown


def test_what_is_alike_far_from_a_difference_changes_nothing():
    far = "and so it goes, " * 100
    for before, after in (("A big house.", "A house."), ("He came.", "She came."), ("It is red.", "It is red.")):
        near = pieces(f"x {before} x", f"x {after} x")
        assert [p for p, new in pieces(far + f"x {before} x" + far, far + f"x {after} x" + far) if new] == [
            p for p, new in near if new
        ]
        assert marked(far + before + far, far + after + far) == far + marked(before, after) + far
    # 3,000 words, one of which differs: without the ends 0.01 s
    assert pieces("word " * 3000 + "old", "word " * 3000 + "new") == [("word " * 3000, False), ("new", True)]


def test_how_much_is_shared():
    assert shared("It rains in May.", "It rains in June.") == 10 / 14  # It, rains, in and . of fourteen letters
    assert shared("", " ") == 1
    assert shared("It rains.", "") == 0


@given(st.text(), st.text())
def test_pieces_make_up_the_newer_text(before, after):
    assert "".join(text for text, _ in pieces(before, after)) == after


@given(st.text())
def test_a_text_does_not_differ_from_itself(text):
    assert not any(new for _, new in pieces(text, text))


# --- What a notebook shows: the numbers of the result, and nothing of the user's taken for markup

EVIL = "<script>&"
SIGNATURE = Signature("toy", (("metric", "toy"), ("path", EVIL)))


def cells(html):
    """Every cell of every table; the whole must be well-formed."""
    root = ElementTree.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")
    assert not root.findall(".//script")
    return ["".join(cell.itertext()) for cell in root.iter() if cell.tag in ("td", "th")]


def test_scores_are_a_line_per_system():
    scores = Scores(SIGNATURE, ("1", "2", "3"), np.array([0.5, 1.0, 0.25]), systems=(EVIL, EVIL, "b"))
    assert cells(scores_html(scores)) == ["system", "toy", "n", EVIL, "0.7500", "2", "b", "0.2500", "1"]
    assert "&lt;script&gt;" in scores_html(scores)


def test_scores_by_several_metrics_are_one_table():
    texts = {EVIL: ["it rains", ""], "b": ["it is raining", "a dog"]}
    found = ng.score(texts, ["it is raining", "a dog"], metrics=["chrf", "rouge1"])
    html = found._repr_html_()
    own = [[f"{found['chrf'].by_system()[name]:.2f}", f"{found['rouge1'].by_system()[name]:.4f}"] for name in texts]
    assert cells(html) == ["system", "chrf", "rouge1", "n", EVIL, *own[0], "2", "b", *own[1], "2"]
    told = [*(str(found[spec].signature) for spec in found), "chrf: 1 of 4 segments"]
    assert [*map(html.count, told)] == [1, 1, 1]
    assert type(found)()._repr_html_() == ""


def test_scores_without_systems_are_one_line_with_counts_of_flags_below():
    flags = {"empty": np.array([True, False])}
    html = scores_html(Scores(SIGNATURE, ("1", "2"), np.array([np.nan, 50.0]), flags=flags))
    assert cells(html) == ["system", "toy", "n", "-", "50.00", "2"]
    assert "toy: 1 of 2 segments (1) have an empty side; they get the worst value<br>toy: 1 of 2 segments (1)" in html


def test_a_result_has_its_tables_signatures_and_notes():
    row = {"system": EVIL, "metric": "bleu", "value": 31.25, "low": 30.0, "high": 32.5, "n": 7, "n_undefined": 0}
    metric = {"spec": "bleu", "signature": "metric:bleu", "higher_is_better": True}
    html = result_html(Result("score", [row], (), [metric], ["a <note>"]))
    assert cells(html)[:2] == ["system", "bleu"]
    assert EVIL in cells(html)
    assert "bleu = metric:bleu<br>note: a &lt;note&gt;" in html


@pytest.mark.parametrize("kind", ["align", "synth"])
def test_rows_without_tables_of_their_own_are_shown_as_they_are(kind):
    html = result_html(Result(kind, [{"word": EVIL, "weight": 1 / 3, "match": None}] * 21))
    assert cells(html)[:6] == ["word", "weight", "match", EVIL, "0.3333", ""]
    assert "the first 20 of 21 rows" in html


def test_a_suite_shows_the_first_pair_of_each_phenomenon():
    pairs = [Pair(id=str(i), phenomenon=p, better=f"b{i}", worse=EVIL) for i, p in enumerate(["x", "y", "x"])]
    header = ["phenomenon", "better, of the first pair", "worse", "pairs"]
    assert cells(suite_html(Suite(tuple(pairs)))) == [*header, "x", "b0", EVIL, "2", "y", "b1", EVIL, "1"]
