import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.nli.menli import Nli
from nlgauge.metrics.nli.model import Questions, anchors
from nlgauge.metrics.nli.summac import SummaC
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")


def test_anchors_are_the_only_reference_or_the_source():
    segments = [Segment("1", "h", ("r",), source="s"), Segment("2", "h", ("q",))]
    assert anchors(segments, "reference") == ["r", "q"]
    assert anchors(segments, "source") == ["s", ""]


def test_questions_know_their_pairs(told):
    model = told({("a", "b"): (1, 0, 0), ("c", "d"): (0, 1, 0), ("e", "f"): (0, 0, 1)}, long=[("c", "d")])
    questions = Questions()
    questions.ask(0, [("a", "b")])
    questions.ask(2, [("c", "d"), ("e", "f")])
    found, cut = questions.judged(model, None, Runtime(), "nli")
    assert questions.owners == [0, 2, 2]
    assert found.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert cut.tolist() == [False, True, False]


@pytest.mark.parametrize("metric", [Nli, SummaC])
def test_models_that_are_none_are_refused_by_any_metric(tiny_model, tiny_nli, metric):
    segments = [Segment("s", "a cat", ("a dog",), source="a dog")]
    for model, message in (
        (str(tiny_nli("bert", ("positive", "negative"))), r"has 2 labels \(positive, negative\), expected entailment"),
        (
            str(tiny_nli("bert", ("LABEL_0", "LABEL_1", "LABEL_2"))),
            r"calls its labels LABEL_0, LABEL_1, LABEL_2.* say the order: labels=",
        ),
        (str(tiny_model("bert")), r"has 2 labels \(LABEL_0, LABEL_1\)"),
        ("/no/such/folder", r"^model folder /no/such/folder does not exist$"),
        ("absent.safetensors", r"^head file absent\.safetensors does not exist"),
    ):
        with pytest.raises(InputError, match=message):
            metric(model=model).score(segments, Runtime(device="cpu"))


def test_metrics_over_one_model_share_it(tiny_head):
    runtime = Runtime(device="cpu")
    head = str(tiny_head())
    assert Nli(model=head).loaded(runtime).network is SummaC(model=head, max_tokens=16).loaded(runtime).network
