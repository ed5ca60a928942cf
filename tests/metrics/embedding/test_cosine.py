"""Cosine of mean vectors: by transformers and numpy, and the contract."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.cosine import Cosine
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

torch = pytest.importorskip("torch")
CPU = Runtime(device="cpu")
FLOAT32 = 1e-6  # of one, through a few layers


def one(hyp, *refs, **options):
    return Cosine(**options).score([Segment("s", hyp, refs)], CPU)


@pytest.mark.parametrize("layer", [None, 0, 2])
@pytest.mark.parametrize("special_tokens", ["keep", "drop"])
def test_the_cosine_is_what_transformers_and_numpy_say(tiny_model, layer, special_tokens):
    from transformers import AutoModel, AutoTokenizer

    folder = str(tiny_model("bert"))
    encoder, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)

    def vector(text):
        with torch.no_grad():
            states = encoder(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[
                3 if layer is None else layer
            ][0]
        return (states if special_tokens == "keep" else states[1:-1]).mean(0).numpy()

    a, b = vector("the cat sat on the mat"), vector("a dog lay on the rug")
    found = one(
        "the cat sat on the mat", "a dog lay on the rug", model=folder, layer=layer, special_tokens=special_tokens
    )
    assert found.values[0] == pytest.approx(
        a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5
    )  # float32 in another order


@pytest.mark.parametrize(
    "options", [{}, {"references": "best", "layer": 2}, {"special_tokens": "drop", "max_tokens": 16}], ids=str
)
def test_cosine_keeps_the_contract_of_a_metric(tiny_model, options):
    check_metric(Cosine(model=str(tiny_model("bert")), **options), runtime=CPU)


def test_every_option_is_in_the_signature(tiny_model):
    metric = Cosine(model=str(tiny_model("bert")))
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1}
    assert check_options(metric, runtime=CPU, alternatives=others) == ["revision"]


def test_paraphrases_lie_nearer_than_other_sentences():
    near = one("The ferry leaves at seven.", "At seven o'clock the ferry departs.").values[0]
    far = one("The ferry leaves at seven.", "Tomatoes need a lot of sun.").values[0]
    assert near > 0.6 > 0.4 > far
    assert one("The ferry leaves.", "The ferry leaves.").values[0] == pytest.approx(1, abs=FLOAT32)


def test_empty_sides_are_the_lowest_and_flagged():
    scores = one("", "The ferry leaves.")
    assert (scores.values.tolist(), scores.flags["empty"].tolist()) == ([-1.0], [True])


def test_several_references_by_their_mean_or_the_best():
    refs = ("The boat leaves.", "Tomatoes need sun.")
    each = [one("The ferry leaves.", ref).values[0] for ref in refs]
    assert one("The ferry leaves.", *refs).values[0] == pytest.approx(np.mean(each), abs=FLOAT32)
    assert one("The ferry leaves.", *refs, references="best").values[0] == pytest.approx(each[0], abs=FLOAT32)


def test_what_cannot_be_is_refused():
    with pytest.raises(SpecError, match="cosine:layer is -1, expected 0"):
        ng.metric("cosine:layer=-1")
    with pytest.raises(SpecError, match="cosine:layer is 7, but model 'embedded' has layers 0 to 6"):
        one("a", "b", layer=7)
    with pytest.raises(SpecError, match="cosine:dtype"):
        ng.metric("cosine:dtype=int8")
    with pytest.raises(InputError, match="cosine needs references; segment 's' has none"):
        one("a")
