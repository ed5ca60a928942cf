"""Regressors of one's own as metrics: they need what their head reads."""

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import notes_of
from nlgauge.metrics.learned.regressor import Regressor
from nlgauge.metrics.registry import metric_info
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

torch = pytest.importorskip("torch")
CPU = Runtime(device="cpu")
BOTH, SOURCE = "hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|", "hyp,src,hyp*src,|hyp-src|"


@pytest.mark.parametrize(
    ("features", "needs"),
    [("hyp,ref,hyp*ref,|hyp-ref|", {"references"}), (BOTH, {"references", "source"}), (SOURCE, {"source"})],
)
def test_it_needs_what_its_head_reads_and_keeps_the_contract(tiny_regressor, features, needs):
    metric = Regressor(model=str(tiny_regressor(features=features)))
    assert metric.info.needs == needs
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
        (note,) = notes_of(built)
        assert note.startswith("trained on human ratings (WMT15 DA); agreement with ratings of the same texts")
    if name == "comet":  # the others add no way of their own to what the tests above go through
        check_metric(metric, runtime=CPU, tolerance=1e-5)


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


@pytest.mark.parametrize("name", ["comet", "comet-qe"])
def test_without_a_source_the_segment_is_named(tiny_regressor, name):
    metric = ng.metric(name, model=str(tiny_regressor(features=NAMED[name])))
    with pytest.raises(InputError, match=f"{name} needs source; segment '1' has none"):
        metric.score([Segment("1", "a cat", ("the cat",))], CPU)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("ruse", "'nlgauge train regressor --method frozen' makes one$"),
        (
            "comet",
            r"'nlgauge train regressor --source' makes one\. Unbabel's models run as unbabel-comet:model=",
        ),
        (
            "comet-qe",
            r"'nlgauge train regressor --source --no-reference' makes one\. Unbabel's models run as unbabel-comet:",
        ),
    ],
)
def test_a_model_that_is_not_named_is_one_to_be_trained(name, command):
    with pytest.raises(SpecError, match=f"^{name} needs the option 'model'; write {name}:model=...; {command}"):
        ng.metric(name)


def test_files_that_are_no_regressor_are_told_in_a_line(tmp_path):
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"\x00" * 40)
    for model, message in (
        (damaged, "is not a readable safetensors file"),
        (tmp_path, "holds no regressor.safetensors"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            ng.metric("comet", model=str(model))
        assert "\n" not in str(caught.value)


def test_what_has_learnt_from_no_rating_has_no_note(tiny_regressor):
    assert notes_of(ng.metric("regressor", model=str(tiny_regressor()))) == ()


def test_a_text_of_which_the_tokenizer_keeps_nothing_is_empty(tiny_regressor):
    # BERT's tokenizer drops U+FFFD; the network would rate the mean of two special tokens
    metric = Regressor(model=str(tiny_regressor()))
    rows = [Segment("1", "\ufffd\ufffd", ("a cat",)), Segment("2", "a cat", ("\u0301",)), Segment("3", "a", ("a",))]
    found = metric.score(rows, CPU)
    assert found.flags["empty"].tolist() == [True, True, False]
    assert found.values[:2].tolist() == [-25.0, -25.0]
