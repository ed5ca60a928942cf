"""Regressors of one's own as metrics: they need what their head reads."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of, trained_on
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned.regressor import Regressor, SEScore
from nlgauge.metrics.registry import metric_info
from nlgauge.models.regressor import calibrate, locate_regressor
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

torch = pytest.importorskip("torch")


CPU = Runtime(device="cpu")
BOTH, SOURCE = "hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|", "hyp,src,hyp*src,|hyp-src|"


@pytest.mark.parametrize(
    ("features", "needs"),
    [("hyp,ref,hyp*ref,|hyp-ref|", {"references"}), (BOTH, {"references", "source"}), (SOURCE, {"source"})],
)
def test_it_needs_what_its_head_reads(tiny_regressor, features, needs):
    assert Regressor(model=str(tiny_regressor(features=features))).info.needs == needs


def test_regressor_keeps_the_contract_of_a_metric(tiny_regressor):
    metric = Regressor(model=str(tiny_regressor(features=BOTH)))
    check_metric(metric, runtime=CPU, tolerance=1e-5)  # float32 through three layers


def test_the_source_takes_part(tiny_regressor):
    metric = Regressor(model=str(tiny_regressor(features=BOTH)))
    rows = [Segment("1", "a cat", ("the cat",), source="rain"), Segment("2", "a cat", ("the cat",), source="snow fell")]
    first, second = metric.score(rows, CPU).values
    assert first != pytest.approx(second, abs=1e-3)


def test_against_the_source_no_reference_is_read(tiny_regressor):
    metric = Regressor(model=str(tiny_regressor(features=SOURCE)))
    with_one = metric.score([Segment("1", "a cat", ("the cat",), source="rain")], CPU).values
    without = metric.score([Segment("1", "a cat", source="rain")], CPU).values
    assert without == pytest.approx(with_one, abs=1e-6)  # float32
    with pytest.raises(InputError, match="regressor needs source; segment '1' has none"):
        metric.score([Segment("1", "a cat", ("the cat",))], CPU)


def test_a_model_must_be_named_and_there():
    with pytest.raises(SpecError, match="regressor needs the option 'model'; write regressor:model="):
        ng.metric("regressor")
    with pytest.raises(InputError, match="does not exist"):
        ng.metric("regressor:model=absent.safetensors")


COMPARED = "hyp,ref,hyp*ref,|hyp-ref|"
NAMED = {"ruse": COMPARED, "comet": BOTH, "comet-qe": SOURCE}


@pytest.mark.parametrize("name", NAMED)
def test_a_named_one_is_the_regressor_of_its_features(tiny_regressor, name):
    head = tiny_regressor(features=NAMED[name], method="frozen", criterion="da", data="WMT15 DA")
    rows = [
        Segment("1", "a cat", ("the cat",), source="rain"),
        Segment("2", "a dog lay", ("snow",), source="heavy snow"),
    ]
    metric, plain = ng.metric(f'{name}:model="{head}"'), ng.metric(f'regressor:model="{head}"')
    assert metric.info.needs == plain.info.needs == metric_info(name).needs
    assert metric.score(rows, CPU).values.tolist() == plain.score(rows, CPU).values.tolist()
    signature = str(signature_of(metric, CPU))
    assert signature.startswith(f"metric:{name}|")
    assert "|trained:human ratings|" in signature
    assert "trained:" not in str(signature_of(plain, CPU))  # whose signatures stay as they were
    for built in (metric, plain):
        (note,) = built.notes
        assert note.startswith("trained on human ratings (WMT15 DA); agreement with ratings of the same texts")


@pytest.mark.parametrize(
    ("name", "other", "message"),
    [
        ("comet", COMPARED, "comet: .* reads hyp, ref, expected hyp, ref, src; use regressor:model="),
        ("comet-qe", BOTH, "comet-qe: .* reads hyp, ref, src, expected hyp, src; use regressor:model="),
        ("ruse", SOURCE, "ruse: .* reads hyp, src, expected hyp, ref; use regressor:model="),
        (
            "ruse",
            "hyp*ref,|hyp-ref|",
            r"ruse: .* has the features hyp\*ref, \|hyp-ref\| and was trained by method None",
        ),
    ],
)
def test_a_named_one_takes_no_other_features(tiny_regressor, name, other, message):
    with pytest.raises(InputError, match=message):
        ng.metric(name, model=str(tiny_regressor(features=other)))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("ruse", "'nlgauge train regressor --method frozen' makes one$"),
    ],
)
def test_a_model_that_is_not_named_is_one_to_be_trained(name, command):
    with pytest.raises(SpecError, match=f"^{name} needs the option 'model'; write {name}:model=...; {command}"):
        ng.metric(name)


def test_what_has_learnt_from_no_rating_has_no_note(tiny_regressor):
    assert ng.metric("regressor", model=str(tiny_regressor())).notes == ()


def test_a_text_of_which_the_tokenizer_keeps_nothing_is_empty(tiny_regressor):
    # BERT's tokenizer drops U+FFFD; the network would rate the mean of two special tokens
    metric = Regressor(model=str(tiny_regressor()))
    rows = [Segment("1", "\ufffd\ufffd", ("a cat",)), Segment("2", "a cat", ("\u0301",)), Segment("3", "a", ("a",))]
    found = metric.score(rows, CPU)
    assert found.flags["empty"].tolist() == [True, True, False]
    assert found.values[:2].tolist() == [-25.0, -25.0]


# --- SEScore as a metric: the contract, references, empty sides, the scale, and regressors that read something else

FLOAT32 = 1e-5  # of a score of about 1, through three layers


@pytest.fixture(scope="module")
def head(tiny_regressor):
    return str(tiny_regressor(trained_on_phenomena="typos"))


def one(head, hyp, *refs, **options):
    return SEScore(model=head, **options).score([Segment("s", hyp, refs)], CPU)


def test_sescore_keeps_the_contract_of_a_metric(head):
    check_metric(SEScore(model=head, references="best", rescale=True), runtime=CPU, tolerance=FLOAT32)


def test_every_option_is_in_the_signature(tiny_regressor):
    other, head = (str(tiny_regressor(calibration=curve)) for curve in ("-1:-2,0:0", CURVE))
    assert check_options(
        SEScore(model=head), runtime=CPU, alternatives={"model": other, "dtype": "bfloat16"}, tolerance=FLOAT32
    ) == ["max_tokens"]
    assert "head:sha256:" in str(signature_of(SEScore(model=head), CPU))


def test_several_references_by_their_mean_or_the_best(head):
    refs = ("a cat sat on the mat", "heavy rain", "the dog lay")
    each = [one(head, "the cat sat", ref).values[0] for ref in refs]
    assert np.diff(sorted(each)).min() > 1e-4  # far beyond rounding, which could turn the best
    assert one(head, "the cat sat", *refs).values[0] == pytest.approx(np.mean(each), abs=FLOAT32)
    best = one(head, "the cat sat", *refs, references="best")
    assert best.values[0] == pytest.approx(max(each), abs=FLOAT32)
    assert best.parts["reference"].tolist() == [np.argmax(each)]


def test_what_is_empty_gets_the_worst_of_training(head):
    for hyp, ref in ((" ", "a cat"), ("a cat", ""), ("", "")):
        scores = one(head, hyp, ref)
        assert (scores.values.tolist(), scores.flags["empty"].tolist()) == ([-25.0], [True])
        assert one(head, hyp, ref, rescale=True).values.tolist() == [0.0]
    assert not one(head, "a cat", "a dog").flags["empty"].any()


def test_rescaling_is_25_plus_s_over_25(head):
    plain, rescaled = one(head, "a cat", "the dog"), one(head, "a cat", "the dog", rescale=True)
    assert rescaled.values == pytest.approx((25 + plain.values) / 25)
    assert plain.parts["raw"].tolist() == plain.values.tolist()
    assert rescaled.parts["raw"] == pytest.approx(plain.values, abs=FLOAT32)


def test_nothing_to_rescale_by_is_refused(tiny_regressor):
    with pytest.raises(InputError, match="trained on scores from 3 to 3, nothing to rescale by; use rescale=false"):
        one(str(tiny_regressor(low="3", high="3")), "a", "b", rescale=True)


def test_a_regressor_that_reads_the_source_is_no_sescore(tiny_regressor):
    path = str(tiny_regressor(features="hyp,src,hyp*src,|hyp-src|"))
    with pytest.raises(InputError, match=r"reads hyp, src, expected hyp, ref; use regressor:model="):
        one(path, "a", "b")


def test_the_list_says_that_the_head_of_the_package_is_not_sescore():
    told = ng.list_metrics()
    assert (
        "yet not SEScore: no severities, no network, and half a deviation of BERTScore's F" in told["sescore"].summary
    )
    assert "as in the paper" in told["paper/sescore"].summary


def test_the_papers_own_network_is_one_to_be_trained(tiny_regressor):
    with pytest.raises(
        SpecError, match=r"paper/sescore:model=\.\.\.; 'nlgauge synth .* && nlgauge train sescore .*paper'"
    ):
        ng.metric("paper/sescore")
    network = str(tiny_regressor(features="hyp*ref,|hyp-ref|", method="full"))
    rows = [Segment("1", "a cat", ("the cat",)), Segment("2", "a dog lay", ("snow",))]
    metric = ng.metric("paper/sescore", model=network)
    assert metric.score(rows, CPU).values.tolist() == SEScore(model=network).score(rows, CPU).values.tolist()
    assert str(signature_of(metric, CPU)).startswith("metric:paper/sescore|")


@pytest.mark.parametrize(
    "other",
    [{"method": "full"}, {"features": "hyp*ref,|hyp-ref|", "method": "ridge"}, {"features": "hyp*ref,|hyp-ref|"}],
)
def test_another_regressor_is_not_the_papers_network(tiny_regressor, other):
    with pytest.raises(
        InputError, match=r"paper/sescore: .* expected hyp\*ref, \|hyp-ref\| and a network; use sescore:"
    ):
        ng.metric("paper/sescore", model=str(tiny_regressor(**other))).score([Segment("1", "a", ("b",))], CPU)


def test_what_it_was_shown_in_training_is_known(head):
    assert trained_on(SEScore(model=head)) == ("typos",)


def test_long_texts_are_flagged(head):
    assert one(head, "the cat " * 20, "a cat").flags["truncated"].tolist() == [True]
    assert one(head, "the cat", "a cat").flags["truncated"].tolist() == [False]


CURVE = "-25:-25,-9:-5,-4:0"


@pytest.fixture(scope="module")
def calibrated(tiny_regressor):
    # random weights say about 0 to 1; the target's mean and deviation bring that to the curve
    return str(tiny_regressor(calibration=CURVE, target_mean="-7", target_sd="6"))


def test_a_calibration_is_read_off_the_curve_by_hand():
    # from -25 to -9 a step of 16 is worth 20, from -9 to -4 five are worth five; the last lines go on
    points = ((-25.0, -25.0), (-9.0, -5.0), (-4.0, 0.0))
    outputs = np.array([-25, -17, -9, -6.5, -4, -3, -27.0, np.nan])
    assert calibrate(outputs, points)[:-1].tolist() == [-25, -15, -5, -2.5, 0, 1, -27.5]
    assert np.isnan(calibrate(outputs, points)[-1])


def test_a_calibrated_score_keeps_every_rank(calibrated):
    segments = [
        Segment(f"{i}", hyp, refs)
        for i, (hyp, refs) in enumerate(
            (hyp, refs)
            for hyp in ("the cat sat", "a dog", "heavy rain fell", "snow", " ")
            for refs in (("a cat sat",), ("the dog lay", "not good today"))
        )
    ]
    scores, plain = (SEScore(model=calibrated, calibrated=on).score(segments, CPU) for on in (True, False))
    assert SEScore(model=calibrated).score(segments, CPU).values.tolist() == plain.values.tolist()  # only if asked for
    assert plain.values.tolist() == plain.parts["raw"].tolist() == scores.parts["raw"].tolist()
    assert scores.values == pytest.approx(calibrate(plain.values, locate_regressor(calibrated).calibration))
    assert not np.allclose(scores.values, plain.values)
    assert np.argsort(scores.values, kind="stable").tolist() == np.argsort(plain.values, kind="stable").tolist()
    rescaled = SEScore(model=calibrated, calibrated=True, rescale=True).score(segments, CPU)
    assert rescaled.values == pytest.approx((25 + scores.values) / 25)


def test_the_signature_says_calibrated_only_where_it_is(head, calibrated):
    assert "calibrated:true" in str(signature_of(SEScore(model=calibrated, calibrated=True), CPU))
    assert "calibrated" not in str(signature_of(SEScore(model=calibrated), CPU))
    with pytest.raises(SpecError, match="has no calibration, which calibrated=true asks for"):
        one(head, "a cat", "a dog", calibrated=True)


def test_the_shipped_head_gives_severities_where_that_is_asked_for():
    whole = "The ferry to the island leaves at seven every morning."
    hyps = [
        whole,
        "The ferry to the islands leaves at seven every morning.",
        "The plane to the moon never sleeps at all.",
    ]
    segments = [Segment(f"{i}", hyp, (whole,)) for i, hyp in enumerate(hyps)]
    plain, scores = (SEScore(calibrated=on).score(segments, CPU).values for on in (False, True))
    points = locate_regressor("sescore").calibration
    assert points[0] == (-25.0, -25.0)
    assert scores == pytest.approx(calibrate(plain, points))
    assert -2 < scores[0] < 1.5  # a copy: no error, and the network has no bounds
    assert scores[2] < -5


@pytest.mark.parametrize("curve", ["-4:0", "-4:0,-9:-5", "-9:-5,-4:-5", "a:b,c:d", "-9,-4:0"])
def test_a_calibration_that_does_not_rise_is_refused(tiny_regressor, curve):
    with pytest.raises(InputError, match="expected two points or more OUTPUT:SCORE, with commas, in which both rise"):
        one(str(tiny_regressor(calibration=curve)), "a", "b")
