"""SEScore as a metric: the contract, references, empty sides, the scale, and regressors that read something else."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import trained_on
from nlgauge.metrics.learned.sescore import SEScore
from nlgauge.models.regressor import calibrate, load_regressor, locate_regressor
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

torch = pytest.importorskip("torch")
CPU = Runtime(device="cpu")
FLOAT32 = 1e-5  # of a score of about 1, through three layers


@pytest.fixture(scope="module")
def head(tiny_regressor):
    return str(tiny_regressor(trained_on_phenomena="typos"))


def one(head, hyp, *refs, **options):
    return SEScore(model=head, **options).score([Segment("s", hyp, refs)], CPU)


@pytest.mark.parametrize("options", [{}, {"references": "best", "rescale": True}, {"max_tokens": 12}], ids=str)
def test_sescore_keeps_the_contract_of_a_metric(head, options):
    check_metric(SEScore(model=head, **options), runtime=CPU, tolerance=FLOAT32)


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
    check_metric(metric, runtime=CPU, tolerance=FLOAT32)


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


def test_half_precision_is_near(head):
    values = [
        one(head, "the cat sat on the mat", "a dog lay on the rug", dtype=dtype).values[0]
        for dtype in ("float32", "bfloat16")
    ]
    assert values[0] != values[1]
    assert values[0] == pytest.approx(values[1], abs=0.1)  # bfloat16 holds 8 bits, vectors are of the size of 1


def test_one_model_serves_all_metrics_of_a_runtime(head):
    runtime = Runtime(device="cpu")
    assert load_regressor(head, "float32", runtime).network is load_regressor(head, "float32", runtime).network


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("sescore:references=worst", "sescore:references"),
        ("sescore:max_tokens=2", "sescore:max_tokens is 2, expected 3 or more"),
        ("sescore:dtype=int8", "sescore:dtype is 'int8'; known: auto, bfloat16, float16"),
        ("sescore:modl=x", "sescore has no option 'modl'; did you mean 'model'"),
    ],
)
def test_options_that_cannot_be_are_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        ng.metric(spec)


def test_a_model_that_is_not_there_is_told_when_it_is_asked():
    metric = ng.metric("sescore:model=absent.safetensors")
    with pytest.raises(InputError, match=r"head file absent\.safetensors does not exist"):
        metric.score([Segment("s", "a", ("b",))], CPU)


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
