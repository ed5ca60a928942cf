"""A metric: its members and their defaults, signature and needs; texts it cannot read; several references."""

import copy
import json
import pickle
import shutil
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.metric import (
    LIMIT,
    BaseMetric,
    Documents,
    Metric,
    check_needs,
    cut_words,
    described,
    known,
    leave_out,
    limit,
    nonfinite,
    options_of,
    over_references,
    part_directions,
    said,
    show,
    signature,
    signature_of,
    spec_of,
    trained_on,
    unknown,
    whole,
)
from nlgauge.core.options import construct
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature, parse, quote
from nlgauge.core.suite import Pair
from nlgauge.metrics.learned import regressor as learned
from nlgauge.metrics.run import vectors_of
from nlgauge.models.regressor import Ratings
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import known_writings

pytest.importorskip("torch")


# --- Members, and what holds where a class leaves them out

SEGMENTS = [ng.Segment("1", "a", ("b",))]


@dataclass(frozen=True)
class Bare:
    """A metric of somebody who knows two members."""

    info: ClassVar = MetricInfo("bare")

    def score(self, segments, runtime):
        raise NotImplementedError


@dataclass(frozen=True)
class Telling(Bare):
    """One who knows more, and does not inherit from `BaseMetric`."""

    spec: ClassVar = "telling(bare)"
    pooled: ClassVar = True
    rounds: ClassVar = 2
    notes: ClassVar = ("read this",)
    lacking: ClassVar = {"source": "; take another"}

    def facts(self, runtime):
        return {"me": id(self)}

    def scorer(self, pool, runtime):
        return lambda part: (pool, part)


def test_a_metric_that_inherits_is_itself():
    metric = ng.metric("chrf")
    assert isinstance(metric, BaseMetric)
    assert whole(metric) is metric


def test_a_class_of_two_members_has_the_usual_answers_for_the_others():
    metric = whole(Bare())
    assert (metric.pooled, metric.rounds, metric.notes, metric.lacking) == (False, None, (), {})
    assert (spec_of(metric), metric.inside, metric.info.name) == ("bare", (), "bare")
    assert (metric.facts(None), metric.documents(SEGMENTS), vectors_of(metric, None)) == ({}, [], {})
    assert metric.unread(known_writings()[0]) is metric.refuse(SEGMENTS) is limit(metric) is None
    assert metric.counted("scores") == "scores"
    assert not hasattr(metric, "scorer")
    assert said(metric, "pieces") == said(metric, "unfit") == []


def test_a_class_that_says_more_is_asked_for_it_and_is_not_copied():
    telling = Telling()
    metric = whole(telling)
    assert (spec_of(metric), metric.pooled, metric.rounds) == ("telling(bare)", True, 2)
    assert (metric.notes, metric.lacking) == (("read this",), {"source": "; take another"})
    assert metric.facts(None) == {"me": id(telling)}
    assert metric.scorer(SEGMENTS, None)(SEGMENTS) == (SEGMENTS, SEGMENTS)
    assert trained_on(metric) == ()


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))])
def test_a_wrapped_metric_can_be_copied_and_sent_to_another_process(again):
    metric = whole(Bare())
    assert again(metric) == metric
    assert (again(metric).info.name, again(metric).pooled) == (metric.info.name, False)


def test_what_a_metric_does_not_say_those_inside_say():
    @dataclass(frozen=True)
    class Around(BaseMetric):
        inside: tuple = ()
        info: ClassVar = MetricInfo("around")

    metric = Around((whole(Telling()), whole(Bare()), ng.metric("nli-robust")))
    assert (metric.pooled, metric.rounds, metric.notes) == (True, 2, ("read this",))
    assert metric.lacking == {"source": "; take another"}
    assert (limit(metric), trained_on(metric)) == (256, trained_on(ng.metric("nli-robust")))
    assert metric.unread(known_writings()[0]._replace(language="de")) is not None
    assert Around((ng.metric("0.5*bleu + 0.5*ter"), whole(Pooled()))).rounds is None  # one that cannot be merged


def test_texts_have_keys_where_something_tells_them_apart():
    # "x" of one item and of another have other keys; without items a text is like no other
    keys = Documents("references", {"1": ("x", "y"), "2": ("x",)}, ["x", "y", "x"]).keys()
    assert len({*keys}) == 3
    assert all(len(key) == 16 for key in keys)
    assert Documents("references", None, ["x", "y"]).keys() == [b"", b""]


# --- Fields, facts and pool in the signature, and the specification that rebuilds a metric


@dataclass(frozen=True, kw_only=True)
class Toy:
    whole: int = 1
    real: float = 0.5
    switch: bool = False
    maybe: int | None = None
    text: str = "13a"
    derived: int = field(init=False, default=7)
    info: ClassVar = MetricInfo("toy")


@dataclass(frozen=True)
class Resolving(Toy):
    def facts(self, runtime):
        return {"maybe": 12, "weights": f"on {runtime}"}


@dataclass(frozen=True)
class Pooled(Toy):
    pooled: ClassVar = True


def test_a_signature_is_the_fields_in_order_then_the_version():
    ours = metadata.version("nlgauge")
    assert str(signature(Toy(switch=True))) == f"metric:toy|whole:1|real:0.5|switch:true|text:13a|nlgauge:{ours}"
    # what is None is left out, and what is zero, false or empty is not
    entries = dict(signature(Toy(whole=0, real=0.0, text=""), {"revision": None, "layer": 0}).entries)
    assert not {"maybe", "revision"} & entries.keys()
    found = [entries[name] for name in ("whole", "real", "switch", "text", "layer")]
    assert found == ["0", "0.0", "false", "", "0"]
    assert "whole" not in dict(signature(Toy(), {"whole": None}).entries)  # a fact takes its option out
    shown = ["none", "true", "false", "0.1", "1e-07", "3", "x"]
    assert [show(v) for v in (None, True, False, 0.1, 1e-7, 3, "x")] == shown
    # a field that is no option stands in neither
    assert "derived" not in [f.name for f in options_of(Toy())]
    assert "derived" not in dict(signature(Toy()).entries)


def test_facts_replace_fields_in_their_place_and_add_to_them():
    # `maybe` stays where it was; what is no field follows the fields; without a runtime nothing is resolved
    names = ["metric", "whole", "real", "switch", "maybe", "text", "weights", "nlgauge"]
    entries = signature_of(Resolving(), "cpu").entries
    assert [name for name, _ in entries] == names
    assert (dict(entries)["maybe"], dict(entries)["weights"]) == ("12", "on cpu")
    bare = [name for name, _ in signature_of(Resolving()).entries]
    assert bare == [name for name in names if name not in ("maybe", "weights")]
    assert signature_of(Resolving(), "cpu").spec == "toy"  # which asks for the rule again


def test_a_pooled_metric_says_over_what():
    assert dict(signature(Pooled()).entries)["pool"] == "call"
    assert dict(signature(Pooled(), {"pool": "references"}).entries)["pool"] == "references"


def test_the_specification_holds_what_differs_from_the_defaults():
    assert spec_of(Toy()) == "toy"
    assert spec_of(Toy(real=2.0, text="a, b")) == 'toy:real=2.0,text="a, b"'


@given(
    st.builds(
        Toy,
        whole=st.integers(),
        real=st.floats(allow_nan=False),
        switch=st.booleans(),
        maybe=st.none() | st.integers(),
        text=st.text().filter(lambda text: "\0" not in text),  # no specification holds it: no file is named so
    )
)
def test_the_specification_rebuilds_any_metric(metric):
    spec = parse(spec_of(metric))
    assert construct(Toy, dict(spec.options), {}, "toy") == metric


# --- A metric of a plug-in


@dataclass(frozen=True)
class Share:
    """A metric of a plug-in that knows `info` and `score`, and no base class: letters that the reference has, too."""

    info: ClassVar = MetricInfo("share")

    def score(self, segments, runtime):
        check_needs(self, segments)
        values = np.array([len({*s.hypothesis} & {*s.references[0]}) / 26 for s in segments])
        return Scores(signature_of(self, runtime), ids(segments), values)


class Point:
    name = "share"

    def load(self):
        return Share


@pytest.mark.parametrize("spec", ["share", "0.5*share + 0.5*chrf[norm=none]"])
def test_a_plug_in_with_two_members_works_wherever_a_metric_does(spec, monkeypatch):
    points = metadata.entry_points
    monkeypatch.setattr(
        "nlgauge.core.options.metadata.entry_points",
        lambda group: [Point()] if group == "nlgauge.metrics" else points(group=group),
    )
    hyps = {"one": ["a cat sat", "the dog ran", "birds sing"] * 4, "two": ["cat", "a dog", "no bird"] * 4}
    refs = ["a cat sat down", "the dog ran off", "birds sing"] * 4
    rated = [
        Segment(f"{system}{i}", text, (refs[i],), None, system, str(i), human={"quality": float(i + len(text))})
        for system, texts in hyps.items()
        for i, text in enumerate(texts)
    ]
    pairs = [
        Pair(id=str(i), phenomenon="words", better=good, worse=bad, references=(ref,))
        for i, (good, bad, ref) in enumerate(zip(*hyps.values(), refs, strict=True))
    ]
    assert ng.metric(spec) == ng.metric(spec)
    (scores,) = ng.score(hyps, refs, metrics=spec).values()
    assert scores.by_system()["one"] > scores.by_system()["two"]
    assert [row["system"] for row in ng.compare(hyps, refs, metrics=spec).result().rows[:2]] == ["one", "two"]
    assert ng.meta_evaluate(ng.Dataset(tuple(rated)), metrics=spec).rows
    assert ng.audit(ng.Suite(tuple(pairs), "own"), spec).rows[0]["accuracy"] == 1
    assert ng.gate(hyps["one"], hyps["one"], refs, metrics=spec).rows
    with pytest.raises(ng.InputError, match="needs references; segment '1' has none"):
        ng.score(["a"], metrics=spec)


# --- Needs, and what an error about them says


@dataclass(frozen=True)
class Needy:
    info: ClassVar = MetricInfo("needy", needs={"references", "source", "context", "table"})

    def score(self, segments, runtime):
        raise NotImplementedError


@dataclass(frozen=True)
class Chatty(Needy):
    trained_on: ClassVar = ("typos",)


FULL = Segment("full", "h", ("r",), "s", context=({"speaker": "A", "text": "t"},), table=(("a", 1),))


def test_a_class_with_info_and_score_is_a_metric():
    assert isinstance(Needy(), Metric)
    assert not isinstance("bleu", Metric)
    assert trained_on(Needy()) == ()
    assert trained_on(Chatty()) == ("typos",)


@pytest.mark.parametrize(("need", "absent"), [("references", ()), ("source", None), ("context", ()), ("table", ())])
def test_a_segment_without_what_is_needed_is_named(need, absent):
    lacking = replace(FULL, id="lacking", **{need: absent})
    check_needs(Needy(), [FULL, FULL])
    with pytest.raises(InputError, match=rf"^needy needs {need}; segment 'lacking' has none$"):
        check_needs(Needy(), [FULL, lacking])


@pytest.mark.parametrize("spec", ["bertscore:idf=true", "fluency", "chrf"])
def test_texts_in_the_place_of_segments_are_told_where_texts_go(spec):
    with pytest.raises(InputError, match=rf"got str; for texts write nlgauge.score\(hyps, refs, metrics='{spec}'\)$"):
        ng.metric(spec).score(["a b"], ["a c"])


def test_metrics_that_may_lack_something_are_left_out_and_named():
    # one segment without records: parent has nothing to read, and cider no frequencies
    segments = [Segment("1", "a b", ("a b",))]
    metrics = {name: ng.metric(name) for name in ("parent", "bleu", "cider")}
    kept, notes = leave_out(metrics, {"parent", "bleu", "cider"}, segments)
    assert list(kept) == ["bleu"]
    assert notes == ["embedded metrics left out: parent needs table, cider needs at least two segments, found 1"]
    assert leave_out(metrics, (), segments) == (metrics, [])


def test_an_empty_source_or_reference_is_there():
    check_needs(Needy(), [Segment("a", "", ("",), "", context=({},), table=(0,))])


def test_a_result_describes_a_metric_by_its_signature_scale_and_counts():
    metric = ng.metric("ter")
    entry = described("ter", metric, signature_of(metric), {"empty": 1})
    assert entry == {
        "spec": "ter",
        "signature": str(signature_of(metric)),
        "higher_is_better": False,
        "range": [0, None],  # no error rate is too high, and JSON has no infinity
        "flags": {"empty": 1},
    }


def test_parts_run_as_the_metric_unless_it_says_otherwise():
    names = ["precision", "f1", "reference", "mine"]
    assert part_directions(Needy(), names) == {"precision": True, "f1": True, "reference": None}
    assert part_directions(ng.metric("nli"), ["e", "n", "c"]) == {"e": True, "n": None, "c": False}
    assert part_directions(ng.metric("0.5*chrf + 0.5*ter"), ["chrf", "ter"]) == {"chrf": True, "ter": False}


def test_an_error_about_a_need_ends_in_what_to_do_instead():
    metric = ng.metric("parent")
    assert metric.lacking["table"] == "; if its source holds the records, take parent:records=source"
    assert "references" not in metric.lacking
    assert ng.metric("bleu").lacking == {}


@pytest.mark.parametrize(
    ("spec", "limit", "windows"),
    [
        ("bertscore", 512, True),
        ("bertscore:max_tokens=64", 64, True),
        ("nli", 256, True),  # the limit of its training, below the 512 of its encoder
        ("cosine", 512, False),
        ("rated", 256, False),
        ("0.5*bertscore + 0.5*nli", 256, True),
        ("bleu", None, False),
    ],
)
def test_a_note_on_cut_texts_names_the_limit_and_a_way_out_that_the_metric_has(spec, limit, windows):
    words = cut_words(ng.metric(spec))
    assert (f"of {limit} tokens" in words) == (limit is not None)
    assert ("long=windows" in words) == windows


def test_the_limit_is_where_a_text_is_cut():
    at, beyond = (ng.score(["a " * n], ["a"], metrics="bertscore")["bertscore"] for n in (510, 511))  # and two special
    assert not at.flags["truncated"][0]
    with pytest.warns(ng.ScoreWarning, match="cut to its limit of 512 tokens"):
        ng.score(["a " * 511], ["a"], metrics="bertscore")
    assert beyond.flags["truncated"][0]


# --- Text that a model cannot read is flagged, or has no score


RUNTIME = Runtime()  # one, so that models are loaded once
THAI = "คืนนี้จะมีฝนตกหนักทางภาคเหนือ"


@pytest.mark.parametrize(
    "spec",
    [
        "bertscore",
        "bertscore:rescale=true",
        "cosine",
        "nli",
        "nli:references=parts",
        "nli:long=windows",
        "nli-robust:formula=-c",
        "summac:anchor=reference",
        "sescore",
    ],
)
def test_a_text_without_a_known_piece_has_no_score_beside_others_that_do(spec):
    english = "It rains in the north."
    hypotheses = [THAI, english, english, ""]
    references = ["เมื่อวานเขาไม่ได้ไปโรงเรียน", THAI, "Rain falls in the north.", english]
    scores = ng.score(hypotheses, references, metrics=spec, language="off", runtime=RUNTIME)[spec]
    assert np.isnan(scores.values).tolist() == [True, True, False, False]
    assert all((np.isnan(part) == np.isnan(scores.values)).all() for part in scores.parts.values())
    assert scores.flags["unknown"].tolist() == [True, True, False, False]
    assert scores.flags["empty"].tolist() == [False, False, False, True]


@pytest.mark.parametrize("spec", ["bertscore", "cosine:references=best", "nli", "nli:references=parts"])
def test_of_several_references_those_that_can_be_read_count(spec):
    alone = ng.score(["It rains."], [["Rain falls."]], metrics=spec, runtime=RUNTIME)[spec]
    both = ng.score(["It rains."], [["Rain falls.", THAI]], metrics=spec, language="off", runtime=RUNTIME)[spec]
    if spec == "nli":  # the mean over references is undefined where one of them is
        assert np.isnan(both.values).all()
        assert both.flags["unknown"].all()
    else:
        np.testing.assert_allclose(both.values, alone.values, atol=1e-6)  # float32, other company
        assert not both.flags["unknown"].any()


def test_a_share_is_a_share_of_the_pieces(tiny_model):
    # the tiny vocabulary has the words and the full stop, but none of the Greek letters
    from nlgauge.models.locate import locate
    from nlgauge.models.tokens import TextTokenizer

    tokenizer = TextTokenizer(locate(str(tiny_model("bert"))))
    texts = ["the cat.", "the λόγος", "λόγος ήλιος", ""]
    shares = tokenizer.unknown_shares(tokenizer.content(t) for t in tokenizer.tokens(texts))
    assert shares.tolist() == [0, 0.5, 1, 0]


@pytest.mark.parametrize("kind", ["xlm-roberta", "mbart", "roberta"])
def test_marks_of_word_beginnings_hold_no_text_and_bytes_are_all_known(tiny_model, kind):
    spec = f"bertscore:model={quote(str(tiny_model(kind)))}"
    scores = ng.score(["昨天没有", "the cat"], ["他们", "the cat sat"], metrics=spec, language="off")[spec]
    assert scores.flags["unknown"].tolist() == [kind != "roberta", False]
    assert np.isnan(scores.values).tolist() == [kind != "roberta", False]


# --- A model that computes NaN


def test_what_is_unknown_above_the_limit_or_not_finite_is_flagged_and_undefined():
    shares = np.array([0.0, LIMIT, LIMIT + 0.01, 1.0])
    assert unknown(shares).tolist() == [False, False, True, True]
    np.testing.assert_array_equal(known(np.ones(4), shares), [1, 1, 1, np.nan])
    values = np.array([0.5, np.nan, np.inf, -np.inf])
    assert nonfinite(values).tolist() == [False, True, True, True]
    assert nonfinite(values.reshape(2, 2)).tolist() == [True, True]
    np.testing.assert_array_equal(known(values, np.zeros(4)), [0.5, np.nan, np.nan, np.nan])


@pytest.fixture
def poisoned(tmp_path, monkeypatch):
    """A function that copies a model's folder and makes the vector of one word NaN.

    Such weights are refused when they are loaded; here they stand for what finite ones compute in half precision, which
    not every processor does alike.
    """
    monkeypatch.setattr("nlgauge.models.hub.check_finite", lambda *args: None)
    monkeypatch.setattr("nlgauge.models.packing.check_finite", lambda *args: None)

    def copy(folder, word="cat"):
        from safetensors.torch import load_file, save_file

        path = shutil.copytree(folder, tmp_path / "poisoned")
        row = json.loads((path / "tokenizer.json").read_text())["model"]["vocab"][word]
        tensors = load_file(path / "model.safetensors")
        (key,) = (name for name in tensors if name.endswith("word_embeddings.weight"))
        tensors[key][row] = float("nan")
        save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})
        return str(path)

    return copy


HYPOTHESES = ["the cat sat", "the dog sat", "a dog lay", ""]
REFERENCES = ["the dog sat", "the dog lay", "the cat lay", "a dog"]


def check_poisoned(spec):
    scores = ng.score(HYPOTHESES, REFERENCES, metrics=spec, runtime=RUNTIME)[spec]
    assert scores.flags["nonfinite"].tolist() == [True, False, True, False]
    assert np.isnan(scores.values).tolist() == [True, False, True, False]
    assert all(np.isnan(part).tolist() == [True, False, True, False] for part in scores.parts.values())


@pytest.mark.parametrize("spec", ["bertscore:idf=true,layer=2", "bertscore:layer=0", "cosine"])
def test_a_word_whose_vector_is_nan_leaves_its_segments_without_a_score(tiny_model, poisoned, spec):
    folder = poisoned(tiny_model("bert"))
    check_poisoned(f'{spec}{"," if ":" in spec else ":"}model="{folder}"')
    if spec == "cosine":
        with pytest.raises(InputError, match="computes NaN or infinity for these texts; try dtype=float32"):
            ng.align("the cat sat", "the dog sat", f'bertscore:layer=2,model="{folder}"')


@pytest.mark.parametrize(
    "spec", ["nli:formula=e-c,direction=forward", "nli:references=parts", "summac:anchor=reference"]
)
def test_a_pair_of_which_a_judge_of_entailment_computes_nan_has_no_score(tiny_nli, poisoned, spec):
    check_poisoned(f'{spec},model="{poisoned(tiny_nli("bert"))}"')


def test_a_text_that_a_regressor_makes_infinite_has_no_score(monkeypatch):
    class Broken:
        def score(self, columns, advance):
            broken = ["cat" in hyp + ref for hyp, ref in zip(columns["hyp"], columns["ref"], strict=True)]
            values = np.where(broken, np.inf, -1.0)
            none = np.zeros(len(values), dtype=bool)
            return Ratings(values, truncated=none, unknown=np.zeros(len(values)), empty=none)

    monkeypatch.setattr(learned, "load_regressor", lambda *args: Broken())
    check_poisoned("sescore")


def test_a_model_that_has_no_room_for_a_piece_is_refused(tiny_model, tmp_path):
    path = shutil.copytree(tiny_model("bert"), tmp_path / "narrow")
    config = json.loads((path / "config.json").read_text()) | {"max_position_embeddings": 2}
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="reads at most 2 pieces by its configuration, expected at least 3"):
        ng.score(["a cat"], ["a dog"], metrics=f'bertscore:layer=1,model="{path}"', runtime=RUNTIME)


# --- Several references: a policy folds their scores into one

TOY = Signature("toy", (("metric", "toy"),))
POLICIES = ["best", "best_each", "mean", "first"]
ROWS = st.lists(st.lists(st.integers(-3, 3) | st.none(), min_size=1, max_size=4), min_size=1, max_size=5)


def single(segments, higher_is_better=True):
    """References of toys are numbers: value v, part p = -v, flag where v is above 1; "nan" is undefined."""
    assert all(len(s.references) == 1 for s in segments)
    values = np.array([float(s.references[0]) for s in segments])
    return Scores(
        TOY, ids(segments), values, {"p": -values}, flags={"high": values > 1}, higher_is_better=higher_is_better
    )


def fold(rows, policy, **options):
    segments = [Segment(f"s{i}", "h", tuple("nan" if r is None else str(r) for r in row)) for i, row in enumerate(rows)]
    return over_references(segments, policy, lambda s: single(s, **options))


@pytest.mark.parametrize(
    ("policy", "values", "parts"),
    [
        ("best", [3, 2], [-3, -2]),  # the parts of the reference chosen
        ("best_each", [3, 2], [-1, -2]),  # the best of each column by itself
        ("mean", [2, 2], [-2, -2]),  # (1 + 3 + 2) / 3
        ("first", [1, 2], [-1, -2]),
    ],
)
def test_policies_worked_by_hand(policy, values, parts):
    found = fold([[1, 3, 2], [2]], policy)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.parts["p"], parts)
    assert found.ids == ("s0", "s1")


def test_the_best_reference_is_named_and_among_equals_it_is_the_first():
    np.testing.assert_array_equal(fold([[1, 3, 3], [2], [0, 0]], "best").parts["reference"], [1, 0, 0])
    # also where every segment has one
    np.testing.assert_array_equal(fold([[1], [2]], "best").parts["reference"], [0, 0])
    assert fold([], "best").parts["reference"].shape == (0,)
    assert all("reference" not in fold([[1, 2]], policy).parts for policy in POLICIES[1:])
    found = fold([[1, 3, 2]], "best", higher_is_better=False)
    assert (found.values[0], found.parts["reference"][0], found.higher_is_better) == (1, 0, False)
    assert fold([[1, 3, 2]], "best_each", higher_is_better=False).values[0] == 1
    assert fold([[2, None], [2, 1]], "mean").flags["high"].tolist() == [True, False]  # the first mean is undefined
    assert fold([[2, None], [2, 1]], "best_each").flags["high"].tolist() == [False, False]


def test_a_flag_is_up_where_it_is_up_for_the_reference_chosen_or_for_all():
    rows = [[0, 3], [2, 3]]
    assert fold(rows, "best").flags["high"].tolist() == [True, True]
    assert fold(rows, "best", higher_is_better=False).flags["high"].tolist() == [False, True]
    assert fold(rows, "first").flags["high"].tolist() == [False, True]
    assert fold(rows, "mean").flags["high"].tolist() == [False, True]
    assert fold(rows, "best_each").flags["high"].tolist() == [False, True]


def test_the_undefined_loses_against_any_number_and_makes_a_mean_undefined():
    rows = [[None, -3], [None, None]]
    for policy in ("best", "best_each"):
        np.testing.assert_array_equal(fold(rows, policy).values, [-3, np.nan])
        np.testing.assert_array_equal(fold(rows, policy, higher_is_better=False).values, [-3, np.nan])
    assert np.isnan(fold(rows, "mean").values).all()
    assert np.isnan(fold(rows, "first").values).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_one_reference_each_is_scored_as_it_is(policy):
    segments = [Segment("a", "h", ("1",)), Segment("b", "h", ("2",))]
    asked = []
    over_references(segments, policy, lambda s: asked.append(list(s)) or single(s))
    assert asked == [segments]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_metric_is_asked_once_for_all(policy):
    calls = []
    segments = [Segment("a", "h", ("1", "2")), Segment("b", "h", ("3",))]
    over_references(segments, policy, lambda s: calls.append([(x.id, x.references) for x in s]) or single(s))
    pairs = [("a", ("1",)), ("b", ("3",))] if policy == "first" else [("a", ("1",)), ("a", ("2",)), ("b", ("3",))]
    assert calls == [pairs]


@given(ROWS, st.sampled_from(POLICIES), st.booleans())
def test_a_segment_scores_the_same_alone_as_among_others(rows, policy, higher):
    together = fold(rows, policy, higher_is_better=higher)
    alone = [fold([row], policy, higher_is_better=higher) for row in rows]
    np.testing.assert_array_equal(together.values, [a.values[0] for a in alone])
    for name, column in together.parts.items():
        np.testing.assert_array_equal(column, [a.parts[name][0] for a in alone])
    assert together.flags["high"].tolist() == [bool(a.flags["high"][0]) for a in alone]


@given(ROWS)
def test_folding_is_what_python_says_of_each_row(rows):
    defined = [[v for v in row if v is not None] for row in rows]
    best = [max(row) if row else np.nan for row in defined]
    np.testing.assert_array_equal(fold(rows, "best").values, best)
    np.testing.assert_array_equal(fold(rows, "best_each").values, best)
    means = [sum(row) / len(row) if None not in row else np.nan for row in rows]
    np.testing.assert_allclose(fold(rows, "mean").values, means, rtol=1e-15)  # up to four small whole numbers
