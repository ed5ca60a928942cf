"""Numbers that papers printed, and anchors computed with the peers' packages, recomputed on the same data."""

import dataclasses
import functools
import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.metric import over_references, signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Dataset
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.scores import read_scores
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.tasks import PRESETS


@dataclass(frozen=True, kw_only=True)
class SetRougeL:
    """ROUGE-L as the package `rouge` 1.0.1 defines it.

    Sentences end at periods, words at single blanks, and every word counts once.

    Common subsequences of each reference sentence with each sentence of the hypothesis are taken as sets of words and
    joined, so that a word found in two sentences is one hit; precision and recall are over the distinct words of each
    side.
    """

    info: ClassVar = MetricInfo("set-rouge-l")

    def score(self, segments, runtime):
        return over_references(segments, "mean", self._single)

    def _single(self, segments):
        return Scores(
            signature_of(self), ids(segments), np.array([_set_rouge_l(s.hypothesis, s.references[0]) for s in segments])
        )


@functools.cache
def _set_rouge_l(hypothesis, reference):
    hyp, ref = (
        [" ".join(part.split()).split(" ") for part in text.split(".") if part] for text in (hypothesis, reference)
    )
    found = set()
    for wanted in ref:
        for given in hyp:
            found |= set(_common_subsequence(wanted, given))
    n_ref, n_hyp = (len({word for sentence in side for word in sentence}) for side in (ref, hyp))
    recall, precision = len(found) / n_ref, len(found) / n_hyp
    return 2 * precision * recall / (precision + recall + 1e-8)


def _common_subsequence(one, other):
    """The words of the longest common subsequence that is found from the end, moving along `other` where both ways
    are equally long.
    """
    length = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one, start=1):
        for j, b in enumerate(other, start=1):
            length[i][j] = length[i - 1][j - 1] + 1 if a == b else max(length[i - 1][j], length[i][j - 1])
    i, j, words = len(one), len(other), []
    while i and j:
        if one[i - 1] == other[j - 1]:
            words.append(one[i - 1])
            i, j = i - 1, j - 1
        elif length[i - 1][j] > length[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words


def line_a_sentence(dataset):
    """Tokenised texts with a line break after every sentence, which ROUGE-Lsum reads."""

    def split(text):
        return re.sub(r" ([.!?]) ", r" \1\n", text)

    return Dataset(
        tuple(
            dataclasses.replace(
                s,
                hypothesis=split(s.hypothesis),
                references=tuple(map(split, s.references)),
                source=s.source and split(s.source),
            )
            for s in dataset
        ),
        dataset.name,
    )


def as_many_references(dataset):
    """Every list of references as long as the longest, the first repeated: TER divides by their mean length."""
    longest = max(len(s.references) for s in dataset)
    return Dataset(
        tuple(
            dataclasses.replace(s, references=(*s.references, *[s.references[0]] * (longest - len(s.references))))
            for s in dataset
        ),
        dataset.name,
    )


METRICS = {
    "BLEU": "bleu",
    "sentBLEU": "bleu",
    "sentBLEU(WMT)": "bleu",
    "sentBLEU-noeff": "bleu:effective_order=false",
    "chrF": "chrf",
    "chrF++": "chrf++",
    "TER": "ter",
    "ROUGE-L": "rougeL",
    "ROUGE-L(rouge)": SetRougeL(),
    "rouge1-F": "rouge1:use_stemmer=true",
    "rouge2-F": "rouge2:use_stemmer=true",
    "rougeLsum-F": "rougeLsum:use_stemmer=true",
}
PROTOCOLS = {
    "da-seg": {"preset": "wmt16-seg"},
    "fact-pearson": {"preset": "qags"},
    "rank19-acc": {"preset": "rank19"},
    "d2t-max": {"preset": "bagel", "references": "best"},
    "d2t-mean": {"preset": "bagel"},
    "qg": {"stats": "pearson"},
    "webnlg-seg": {"preset": "webnlg", "level": "segment"},
    "webnlg-sys": {"preset": "webnlg", "level": "system"},
    "summeval-sys-kendall": {"preset": "summeval-sys"},
    "summeval-summ": {"preset": "summeval-summ"},
}
STATS = {"kendall": "kendall_b", "accuracy": "preference_accuracy"}


def options_of(number):
    """Keyword arguments of `meta_evaluate` for a published number."""
    options = dict(PROTOCOLS[number["protocol"]])
    if number["protocol"] == "summeval-sys-kendall":
        options["references"] = number["subset"].removeprefix("system-")
    return options


def tolerance(number):
    """How far ours may be: half a unit of the sixth decimal for what was computed, the printed digits for `exact`,
    0.005 for `close`.
    """
    if number["kind"] == "computed":
        return 1e-6
    if number["check"]["status"] == "close":
        return 0.005
    return 0.5 * 10.0 ** -number.get("digits", 6) * (1 + 1e-9)


def to_check(numbers):
    """Those that can be recomputed.

    Computed anchors, and published ones that were found exact or close; and how many of each are left out.
    """
    known, left_out = [], Counter()
    for number in numbers:
        status = (number.get("check") or {}).get("status")
        if number["kind"] == "published" and status not in ("exact", "close"):
            continue
        if number["protocol"] not in PROTOCOLS or (
            number["metric"] not in METRICS and number["metric"] != "sentBLEU-moses"
        ):
            left_out[number["protocol"], number["metric"]] += 1
            continue
        known.append(number)
    return known, left_out


# How many of the file's numbers are recomputed at least, so that a renamed key cannot empty the test; and how many
# more with NLGAUGE_SLOW=1.
CHECKED = {
    "wmt15-da-seg": (9, 32),
    "wmt16-da-seg": (0, 59),
    "summeval": (0, 108),
    "qags-cnn": (6, 0),
    "rank19": (6, 0),
    "bagel": (44, 0),
    "sfhot": (0, 33),
    "webnlg2020-humaneval": (10, 30),
    "answerability-qg": (9, 0),
}
# Of the large sets these metrics are tried in every run; all of them with NLGAUGE_SLOW=1, which takes minutes.
QUICK = {
    "wmt15-da-seg": ("sentBLEU", "sentBLEU-moses"),
    "wmt16-da-seg": (),
    "summeval": (),
    "sfhot": (),
    "webnlg2020-humaneval": ("sentBLEU", "BLEU"),
}

# Means over references that are equal on paper: sums in another order tell them apart by their last digit, and so rank
# them. The anchors weigh references by their counts, which are equal, and np.average divides otherwise than np.mean:
# rounding the means to 9 digits moves these correlations by as much.
ROUNDED_TIES = {("d2t-mean", "sentBLEU-noeff"): 2e-5, ("d2t-mean", "ROUGE-L(rouge)"): 2e-4}


@pytest.fixture(scope="module")
def evaluated(data_folder):
    """A function from a published number to the evaluation that it is part of, made once for each dataset, metric and
    protocol.
    """
    held, made, scored = {}, {}, {}

    def evaluation(number):
        name, metric = number["dataset"], number["metric"]
        path = data_folder / name / number.get("file", "segments.jsonl.gz")
        options = options_of(number)
        key = (path, metric, tuple(sorted(options.items())))
        if key not in made:
            if path not in held:
                held[path] = ng.read(path)
            data = line_a_sentence(held[path]) if metric == "rougeLsum-F" else held[path]
            if metric == "TER" and number["protocol"] == "webnlg-sys":  # the anchor gave sacrebleu a rectangle
                data = as_many_references(data)
            criterion = "answerability" if name == "answerability-qg" else "all"
            given = {"metrics": METRICS.get(metric, ())}
            if metric == "sentBLEU-moses":
                table = read_scores(data_folder / name / "metric_scores.jsonl.gz")
                given = {"scores": ScoreTable(tuple(Key(k.id) for k in table.keys), table.columns)}
            policy = options.get("references") or ("preset" in options and PRESETS[options["preset"]].references)
            same = (path, metric, policy, number["protocol"] == "webnlg-sys")
            if same in scored:  # the same scores under another protocol
                given = {"scores": scored[same]}
            made[key] = meta_evaluate(data, criterion=criterion, intervals="none", **given, **options)
            scored[same] = made[key].held.scores
        return made[key]

    return evaluation


def ours(number, evaluation):
    """The value of a number in the evaluation that it is part of."""
    stat = STATS.get(number["stat"], number["stat"])
    rows = [row for row in evaluation.rows if row["stat"] == stat]
    groups = {row["group"] for row in rows}
    criteria = {row["criterion"] for row in rows}
    group = number["subset"] if number["subset"] in groups else "mean"
    criterion = number["criterion"] if number["criterion"] in criteria else "mean"
    (value,) = [row["value"] for row in rows if (row["group"], row["criterion"]) == (group, criterion)]
    return value


def is_slow(number):
    return number["metric"] not in QUICK.get(number["dataset"], METRICS)


@pytest.mark.parametrize(
    ("dataset", "slow"),
    [
        *((name, False) for name, (now, _) in CHECKED.items() if now),
        *(pytest.param(name, True, marks=pytest.mark.slow) for name, (_, later) in CHECKED.items() if later),
    ],
)
def test_numbers_come_out(dataset, slow, data_folder, evaluated, capsys):
    numbers, _ = to_check(json.loads((data_folder / "published.json").read_text(encoding="utf-8"))["numbers"])
    numbers = [number for number in numbers if number["dataset"] == dataset and is_slow(number) == slow]
    missed = []
    for number in numbers:
        value = ours(number, evaluated(number))
        allowed = tolerance(number)
        if number["kind"] == "computed":
            allowed = ROUNDED_TIES.get((number["protocol"], number["metric"]), allowed)
        if not abs(value - number["value"]) <= allowed:
            missed.append(
                (
                    number["protocol"],
                    number["subset"],
                    number["criterion"],
                    number["stat"],
                    number["metric"],
                    number["value"],
                    value,
                )
            )
    published = sum(number["kind"] == "published" for number in numbers)
    with capsys.disabled():
        print(
            f"\n{dataset}: {len(numbers) - len(missed)} of {len(numbers)} numbers ({published} published,"
            f" {len(numbers) - published} computed)"
        )
    assert len(numbers) >= CHECKED[dataset][slow]
    assert missed == []


@pytest.mark.slow
def test_bleu_has_menlis_printed_numbers_on_realsumm(data_folder):
    # the preprint's table 13: Pearson by document, over those with p <= .05 alone, and of systems; printed in percent
    # with one digit
    folder = data_folder / "realsumm"
    if not folder.exists():
        pytest.skip("needs $NLGAUGE_DATA/realsumm")
    how = {"preset": "realsumm", "compat": "realsumm", "test": None, "intervals": "none"}
    found = meta_evaluate(ng.read(folder / "segments.jsonl.gz"), "bleu:effective_order=false", **how)
    values = [found.value("bleu:effective_order=false", level=level) for level in ("summary", "system")]
    assert values == pytest.approx([0.480, 0.124], abs=5e-4)


def test_what_is_left_out_is_known(data_folder):
    _, left_out = to_check(json.loads((data_folder / "published.json").read_text(encoding="utf-8"))["numbers"])
    # suites of pairs are no judgements of segments, and two raters are no metric
    assert {protocol for protocol, _ in left_out} == {"adv", "qg"}
    assert [metric for protocol, metric in left_out if protocol == "qg"] == ["rater1 against rater2"]


def test_two_raters_agree_as_the_anchor_says(data_folder):
    numbers = json.loads((data_folder / "published.json").read_text(encoding="utf-8"))["numbers"]
    data = ng.read(data_folder / "answerability-qg" / "segments.jsonl.gz")
    first = {s.id: s.human["rater1"] for s in data}
    found = meta_evaluate(data, scores={"rater1": first}, criterion="rater2")
    for number in numbers:
        if number["metric"] == "rater1 against rater2":
            assert found.value("rater1", group=number["subset"]) == pytest.approx(number["value"], abs=1e-6)


def test_the_mean_over_criteria_is_the_plain_mean(data_folder, evaluated):
    numbers, _ = to_check(json.loads((data_folder / "published.json").read_text(encoding="utf-8"))["numbers"])
    chosen = [
        n
        for n in numbers
        if (n["dataset"], n["protocol"], n["metric"], n["kind"]) == ("bagel", "d2t-max", "chrF", "computed")
    ]
    assert len(chosen) == 4
    parts = [ours(n, evaluated(n)) for n in chosen if n["criterion"] != "avg"]
    (whole,) = [ours(n, evaluated(n)) for n in chosen if n["criterion"] == "avg"]
    assert whole == pytest.approx(math.fsum(parts) / len(parts), abs=1e-12)


@pytest.fixture(scope="module")
def gemba(data_folder):
    """WMT22 zh-en as people judged it with MQM, and the folder of GEMBA's score files; people are no system here."""
    folder = data_folder / "wmt22-gemba-zh-en"
    if not folder.exists():
        pytest.skip("needs $NLGAUGE_DATA/wmt22-gemba-zh-en")
    rated = ng.read(folder / "segments.jsonl.gz")
    return dataclasses.replace(rated, segments=tuple(s for s in rated if s.system != "refB")), folder / "metric-scores"


# Of 91 pairs of 14 systems, those that the published system scores order as MQM does; tau-b of 26,250 segments.
# `nlgauge meta segments.jsonl.gz --exclude refB --scores FILE`, with `--level system --stat pairwise_accuracy` and with
# `--stat kendall_b`. The paper's accuracies pool three language pairs, of which this is one: they cannot come out here.
GEMBA = [
    ("GPT4-DA-refA", 79, 0.382),
    *(
        pytest.param(*told, marks=pytest.mark.slow)
        for told in (("GPT4-Stars-refA", 81, 0.382), ("GPT4-SQM-src", 78, 0.416), ("GPT4-Classes-src", 81, 0.313))
    ),
]


@pytest.mark.parametrize(("judge", "right", "tau"), GEMBA)
def test_judges_of_gemba_come_out(gemba, judge, right, tau):
    rated, folder = gemba
    scores = read_scores(folder / "zh-en" / f"GEMBA-{judge}.seg.score.gz")
    published = read_scores(folder / "zh-en" / f"GEMBA-{judge}.sys.score")
    by_system = {}
    for key, value in zip(scores.keys, scores.column(f"GEMBA-{judge}"), strict=True):
        by_system.setdefault(key.system, []).append(value)
    told = dict(zip((key.system for key in published.keys), published.column(f"GEMBA-{judge}"), strict=True))
    assert told.keys() == by_system.keys()  # all of GEMBA's, more than MQM has
    for system, values in by_system.items():
        assert math.fsum(values) / len(values) == pytest.approx(told[system], abs=1e-9)  # their sums in another order
    found = meta_evaluate(
        rated, scores=scores, level="system", stats="pairwise_accuracy", intervals="none", test="none"
    )
    assert found.value(f"GEMBA-{judge}") == pytest.approx(right / 91, abs=1e-9)  # a share of 91
    human = {name: np.mean([s.human["mqm"] for s in rated if s.system == name]) for name in {s.system for s in rated}}
    pairs = [(a, b) for a in human for b in human if a < b]
    assert sum((told[a] - told[b]) * (human[a] - human[b]) > 0 for a, b in pairs) == right
    segments = meta_evaluate(rated, scores=scores, stats="kendall_b", intervals="none", test="none")
    assert segments.value(f"GEMBA-{judge}") == pytest.approx(tau, abs=5e-4)
