"""The real weights of `base`, where they are there: `make base` installs them. Nothing is fetched for these tests."""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.models import base
from nlgauge.models.entailment import load_nli
from nlgauge.models.heads import find_head


def is_there() -> bool:
    try:
        return base.is_whole(base.home()) or bool(base.installed())
    except InputError:
        return False


torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not is_there(), reason="the encoder base is not installed: make base")
HYPOTHESES = [
    "Expect heavy rain across the north tonight.",
    "The morning starts grey, but the sun comes out by noon.",
    "Winds reach sixty kilometres an hour on the coast.",
    "rain",
]
REFERENCES = [
    "Tonight there will be downpours in northern areas.",
    "A cloudy start gives way to sunshine by midday.",
    "Coastal gusts of up to 60 km/h are likely.",
    "Dry weather for all of the region, with a light breeze that turns to the west in the evening.",
]


@pytest.fixture(scope="module")
def runtime():
    """The encoder, loaded once for all tests here; no score is kept."""
    return ng.Runtime()


def test_the_files_are_those_that_their_makers_published():
    folder = base.folder()
    assert folder is not None
    base.check(folder)


# In float64 nothing but rounding is left. In float32 both are up to 2e-5 from it: numbers reach 10, and a few
# dimensions are many times the others. All positions are read in float32, which takes a quarter of the time, and to the
# last layer, which shows a fault of any before it.
@pytest.mark.parametrize(
    ("precision", "near", "sizes"), [("float64", 1e-12, (3, 12, 12, 40)), ("float32", 5e-5, (3, 12, 12, 40, 130, 512))]
)
def test_every_layer_is_that_of_transformers(precision, near, sizes):
    from transformers import AutoModel

    from nlgauge.models.locate import locate
    from nlgauge.models.packing import PackedBert

    files, dtype = locate("base"), getattr(torch, precision)
    rng = np.random.default_rng(0)
    texts = [rng.integers(5, 30_000, size=n) for n in sizes]
    model = AutoModel.from_pretrained(files.folder, dtype=dtype).eval()
    network = PackedBert(files, dtype, torch.device("cpu"))
    with torch.inference_mode():
        theirs = [model(torch.from_numpy(ids)[None], output_hidden_states=True).hidden_states for ids in texts]
        for layer in (0, 1, 7, 12):
            n = len(texts) if layer == 12 else 4
            with network.cut(layer) as forward:
                found = forward(texts[:n])
            expected = torch.cat([states[layer][0] for states in theirs[:n]])
            torch.testing.assert_close(found, expected, atol=near, rtol=0)


def test_bertscore_is_that_of_its_authors(runtime):
    bert_score = pytest.importorskip("bert_score")
    scorer = bert_score.BERTScorer(model_type=str(base.folder()), num_layers=7, device="cpu")
    theirs = scorer.score(HYPOTHESES, REFERENCES)[2].numpy()
    ours = ng.score(HYPOTHESES, REFERENCES, metrics="bertscore:model=base", runtime=runtime)
    ours = ours["bertscore:model=base"]
    assert ours.values == pytest.approx(theirs, abs=1e-5)  # float32 in batches of another shape
    assert "|model:base|layer:7|" in str(ours.signature)
    assert f"|weights:sha256:{base.SHA256[:16]}|" in str(ours.signature)


@pytest.mark.parametrize("name", ["nli-base", "nli-robust-base", "faithful-base"])
def test_heads_on_it_say_where_they_are_from_and_know_plain_sentences(name, runtime):
    head = find_head(name, "nli")
    assert head.path.stat().st_size < 8_000_000
    assert (head.get("encoder"), head.get("encoder_sha256")) == ("base", base.SHA256)
    card = head.path.with_suffix(".md").read_text(encoding="utf-8")
    for phenomenon in head.items("trained_on_phenomena"):
        assert phenomenon in card
    assert "CC BY-SA 4.0" in head.get("data")
    pairs = [
        ("A man is playing a guitar on the street.", "A man is playing an instrument."),
        ("Two children are running on the beach.", "The children are on holiday with their parents."),
        ("The dog is asleep.", "The dog is awake and runs around."),
    ]
    judged = load_nli(name, None, None, "float32", runtime).judge(pairs)
    assert judged.probabilities.argmax(1).tolist() == [0, 1, 2]  # entailment, neutral, contradiction


@pytest.mark.parametrize("spec", ["bertscore:model=base", "cosine:model=base", "moverscore:model=base"])
def test_a_score_does_not_depend_on_its_company(spec, runtime):
    def scores(hypotheses, references):
        return ng.score(hypotheses, references, metrics=spec, runtime=runtime)[spec].values

    together = scores(HYPOTHESES, REFERENCES)
    alone = [scores([h], [r])[0] for h, r in zip(HYPOTHESES, REFERENCES, strict=True)]
    turned = scores(HYPOTHESES[::-1], REFERENCES[::-1])[::-1]
    assert together == pytest.approx(alone, abs=1e-6)
    assert together == pytest.approx(turned, abs=1e-6)
