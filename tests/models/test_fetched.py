"""The real weights of `base` and `multilingual`, where they are: `make encoders` fetches them. No test does.

What the embedded encoder and small networks show every day, too, is slow here; `make encoders` runs it.
"""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.models import fetch
from nlgauge.models.entailment import load_nli
from nlgauge.models.heads import find_head

torch = pytest.importorskip("torch")
BASE, MULTILINGUAL = (
    pytest.mark.skipif(not fetch.is_whole(fetch.ENCODERS[name], fetch.home(name)), reason=f"nlgauge fetch {name}")
    for name in ("base", "multilingual")
)
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


@BASE
def test_the_files_are_those_that_their_makers_published():
    fetch.check("base", fetch.folder("base"))


@BASE
# In float64 nothing but rounding is left. In float32 both are up to 2e-5 from it: numbers reach 10, and a few
# dimensions are many times the others. All positions are read in float32, which takes a quarter of the time, and to the
# last layer, which shows a fault of any before it.
@pytest.mark.parametrize(
    ("precision", "near", "sizes"),
    [
        pytest.param("float64", 1e-12, (3, 12, 12, 40), marks=pytest.mark.slow),
        ("float32", 5e-5, (3, 12, 12, 40, 130, 512)),
    ],
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


@BASE
@pytest.mark.slow
def test_bertscore_is_that_of_its_authors(runtime):
    bert_score = pytest.importorskip("bert_score")
    scorer = bert_score.BERTScorer(model_type=str(fetch.folder("base")), num_layers=7, device="cpu")
    theirs = scorer.score(HYPOTHESES, REFERENCES)[2].numpy()
    ours = ng.score(HYPOTHESES, REFERENCES, metrics="bertscore:model=base", runtime=runtime)
    ours = ours["bertscore:model=base"]
    assert ours.values == pytest.approx(theirs, abs=1e-5)  # float32 in batches of another shape
    assert "|model:base|layer:7|" in str(ours.signature)
    assert f"|weights:sha256:{fetch.ENCODERS['base'].sha256[:16]}|" in str(ours.signature)


@BASE
@pytest.mark.parametrize("name", ["nli-base", "nli-robust-base"])
def test_heads_on_it_say_where_they_are_from_and_know_plain_sentences(name, runtime):
    head = find_head(name, "nli")
    assert head.path.stat().st_size < 8_000_000
    assert (head.get("encoder"), head.get("encoder_sha256")) == ("base", fetch.ENCODERS["base"].sha256)
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


@BASE
@pytest.mark.parametrize(
    "spec",
    [
        "bertscore:model=base",
        *(pytest.param(f"{name}:model=base", marks=pytest.mark.slow) for name in ("cosine", "moverscore")),
    ],
)
def test_a_score_does_not_depend_on_its_company(spec, runtime):
    def scores(hypotheses, references):
        return ng.score(hypotheses, references, metrics=spec, runtime=runtime)[spec].values

    together = scores(HYPOTHESES, REFERENCES)
    alone = [scores([h], [r])[0] for h, r in zip(HYPOTHESES, REFERENCES, strict=True)]
    turned = scores(HYPOTHESES[::-1], REFERENCES[::-1])[::-1]
    assert together == pytest.approx(alone, abs=1e-6)
    assert together == pytest.approx(turned, abs=1e-6)


# --- `multilingual`

LANGUAGES = [
    "Heute Nacht regnet es im Norden.",
    "Сегодня ночью на севере дождь.",
    "今晚北部有雨。",
    "الليلة أمطار في الشمال.",
    "คืนนี้ฝนตกทางเหนือ",
    "आज रात उत्तर में बारिश होगी।",
]


@MULTILINGUAL
def test_the_multilingual_network_is_that_of_transformers():
    """The same numbers, made wide, in a model of transformers: its last layer holds every fault of those before."""
    from transformers import BertConfig, BertModel

    from nlgauge.models.locate import locate
    from nlgauge.models.packing import PackedBert
    from nlgauge.models.tokens import TextTokenizer

    files = locate("multilingual")
    fetch.check("multilingual", files.folder)
    network = PackedBert(files, torch.float64, torch.device("cpu"))
    model = BertModel(BertConfig(**files.config), add_pooling_layer=False).double().eval()
    names = dict(model.named_parameters())
    with torch.no_grad():
        for name, parameter in names.items():
            parameter.copy_(network._weights[name])
    texts = [tokens.ids for tokens in TextTokenizer(files).tokens(LANGUAGES)]
    texts.sort(key=len)
    with torch.inference_mode(), network.cut(12) as forward:
        theirs = torch.cat([model(torch.from_numpy(ids)[None]).last_hidden_state[0] for ids in texts])
        torch.testing.assert_close(forward(texts), theirs, atol=1e-10, rtol=0)


@MULTILINGUAL
def test_a_copy_matches_and_another_sentence_less_in_every_script(runtime):
    spec = "bertscore:model=multilingual"
    copies = ng.score(LANGUAGES, LANGUAGES, metrics=spec, runtime=runtime)[spec]
    others = ng.score(LANGUAGES, LANGUAGES[::-1], metrics=spec, runtime=runtime)[spec]
    assert copies.values == pytest.approx(np.ones(len(LANGUAGES)), abs=1e-6)
    assert (others.values < 0.95).all()
    assert not copies.flags["unknown"].any()
    assert "|model:multilingual|layer:7|" in str(copies.signature)
