"""Cosine of mean vectors: by transformers and numpy, and the contract."""

import math
from dataclasses import replace

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.points import stopwords
from nlgauge.metrics.embedding.sentences import (
    Cosine,
    DiscoScore,
    EmbeddingAverage,
    Greedy,
    SentSim,
    Supert,
    VectorExtrema,
)
from nlgauge.metrics.embedding.transport import Wmd
from nlgauge.models.encoder import load_encoder
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.metric import SEGMENTS

torch = pytest.importorskip("torch")

CPU = Runtime(device="cpu")
FLOAT32 = 1e-6  # of one, through a few layers


def one(hyp, *refs, **options):
    return Cosine(**options).score([Segment("s", hyp, refs)], CPU)


@pytest.mark.parametrize(("layer", "special_tokens"), [(None, "keep"), (0, "drop")])
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


def test_cosine_keeps_the_contract_of_a_metric_and_signs_every_option(tiny_model):
    check_metric(Cosine(model=str(tiny_model("bert")), references="best", special_tokens="drop"), runtime=CPU)
    metric = Cosine(model=str(tiny_model("bert")))
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1}
    assert check_options(metric, runtime=CPU, alternatives=others) == ["revision"]
    check_metric(Cosine(model=str(tiny_model("bert")), center=True), runtime=CPU)
    check_metric(Cosine(model=str(tiny_model("bert")), against="source"), runtime=CPU)


def few(n=10, group=None):
    """Segments with sources, no two alike."""
    names = ("Anna", "Bea", "Carl", "Dora", "Emil", "Fritz", "Gerda", "Hans", "Ida", "Jan", "Karl", "Lena")[:n]
    return [Segment(f"{group} {i}", f"{x} sings.", (f"{x} is here.",), f"Hier singt {x}.", group=group)
            for i, x in enumerate(names)]  # fmt: skip


def test_against_the_source_is_the_cosine_with_the_source_for_the_reference():
    segments = few(3)
    metric, swapped = Cosine(against="source"), [replace(one, references=(one.source,)) for one in segments]
    assert metric.score(segments, CPU).values.tolist() == Cosine().score(swapped, CPU).values.tolist()
    assert metric.info.needs == frozenset({"source"})
    with pytest.raises(InputError, match="cosine needs source; segment 's' has none"):
        metric.score([Segment("s", "a", ("a",))], CPU)
    with pytest.raises(SpecError, match="cosine:references is about references; against=source reads none"):
        Cosine(against="source", references="best")


def test_the_mean_vector_of_each_side_and_group_is_taken_off():
    segments = few(12, "de-en") + [replace(one, source=one.hypothesis) for one in few(10, "en-en")]
    repeated = segments + [replace(one, id=f"{one.id} again") for one in segments[:3]]  # a text counts once
    found = Cosine(against="source", center=True).score(repeated, CPU).values

    from nlgauge.models.matching import encoder_means  # imports torch

    encoder = load_encoder("embedded", None, "float32", CPU)

    def vectors(texts):
        ids = [tokens.ids for tokens in TextTokenizer(locate("embedded"), space=False).tokens(texts)]
        return encoder_means(encoder, ids, [6])[:, 0].double().numpy()

    for own in (segments[:12], segments[12:]):
        sides = [vectors([one.hypothesis for one in own]), vectors([one.source for one in own])]
        expected = [cosine(a, b) for a, b in zip(*(side - side.mean(0) for side in sides), strict=True)]
        at = [segments.index(one) for one in own]
        assert found[at] == pytest.approx(expected, abs=FLOAT32 * 10)  # less the mean, vectors are a tenth as long
    assert found[22:] == pytest.approx(found[:3], abs=FLOAT32)
    assert found[12:22] == pytest.approx(np.ones(10))  # both sides are the same texts


def test_a_mean_vector_is_taken_of_ten_texts_at_least():
    metric = Cosine(center=True)
    assert metric.pooled
    assert "|pool:call|" in str(ng.metric("cosine:center=true").score(few(), CPU).signature)
    with pytest.raises(InputError, match="at least 10 different texts of a side, and the call has 9: score more"):
        metric.score(few(9), CPU)
    with pytest.raises(InputError, match="the group 'de-en' has 9"):
        metric.score(few(10, "ru-en") + few(9, "de-en"), CPU)
    same = [replace(one, references=("Anna is here.",)) for one in few()]
    with pytest.raises(InputError, match="the call has 1:"):
        metric.score(same, CPU)
    blank = [*few(), Segment("blank", " ", ("A reference.",))]
    scores = metric.score(blank, CPU)
    assert (scores.values[-1], scores.flags["empty"].tolist()) == (-1.0, [False] * 10 + [True])
    assert scores.values[:-1].tolist() == metric.score(few(), CPU).values.tolist()  # no part in the means


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


# --- Greedy matching, embedding average and vector extrema: by their definitions in plain numpy, and the contract

PARITY = 1e-5  # float32 vectors, of transformers there and packed here
KINDS = (Greedy, EmbeddingAverage, VectorExtrema)


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def average(a, b):
    return cosine(a.mean(0), b.mean(0))


def extrema(a, b):
    return cosine(*(np.where(v.max(0) >= abs(v.min(0)), v.max(0), v.min(0)) for v in (a, b)))


def greedy(a, b):
    table = np.array([[cosine(x, y) for y in b] for x in a])
    return (table.max(1).mean() + table.max(0).mean()) / 2


@pytest.mark.parametrize(("kind", "slow"), [*zip(KINDS, (greedy, average, extrema), strict=True)])
def test_the_value_is_what_its_definition_gives(pairs, plain, kind, slow):
    found = kind(model=plain.folder).score(pairs, CPU)
    asked = np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"]))
    assert len(asked) > 40
    for i in asked:
        a, b = (plain(text)[1][-1][1:-1] for text in (pairs[i].hypothesis, *pairs[i].references))
        assert found.values[i] == pytest.approx(slow(a, b), abs=PARITY)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_side_is_0_and_flagged(kind):
    scores = kind().score([Segment("a", "", ("Rain.",)), Segment("b", "Rain.", (" ",))], CPU)
    assert (scores.values.tolist(), scores.flags["empty"].tolist()) == ([0, 0], [True, True])


@pytest.mark.parametrize("kind", KINDS)
def test_the_contract_of_a_metric_holds_with_word_vectors(kind, tmp_path):
    file = tmp_path / "vectors.txt"
    words = sorted({word.lower() for s in SEGMENTS for text in (s.hypothesis, *s.references) for word in text.split()})
    rng = np.random.default_rng(1)
    file.write_text(
        "".join(f"{w.strip('.')} {' '.join(map(str, 0.5 + rng.random(5)))}\n" for w in words if w.isascii())
    )
    check_metric(kind(vectors=str(file)), runtime=CPU, tolerance=1e-9)


def test_the_contract_of_a_metric_holds():
    check_metric(VectorExtrema(), SEGMENTS[:10], runtime=CPU)


def test_pooledvectors_every_option_is_in_the_signature(tiny_model):
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1}
    assert check_options(Greedy(model=str(tiny_model("bert"))), runtime=CPU, alternatives=others) == [
        "revision",
        "vectors",
    ]


def test_what_an_encoder_reads_changes_nothing_beside_word_vectors():
    with pytest.raises(SpecError, match="greedy:layer is of encoders and changes nothing beside vectors=FILE"):
        ng.metric("greedy:vectors=glove.txt,layer=2")
    with pytest.raises(SpecError, match="greedy:layer is 7, but model 'embedded' has layers 0 to 6"):
        Greedy(layer=7).score([Segment("a", "x", ("y",))], CPU)


# --- SentSim: its formula over the two parts, and the contract

ROUNDING = 1e-5  # float32, in batches of other shapes


@pytest.mark.parametrize("words", ["bertscore", "wmd"])
def test_the_value_joins_both_parts_scaled_over_the_call(pairs, plain, words):
    segments = pairs[:40]
    found = SentSim(model=plain.folder, words=words).score(segments, CPU)
    cosine = Cosine(model=plain.folder).score(segments, CPU).values
    kind = BertScore if words == "bertscore" else Wmd
    matched = kind(model=plain.folder, references="mean").score(segments, CPU).values
    real = ~found.flags["empty"]

    def scaled(values):
        return (values - np.nanmin(values[real])) / (np.nanmax(values[real]) - np.nanmin(values[real]))

    close = scaled(matched) if words == "bertscore" else 1 - scaled(matched)
    expected = np.exp(scaled(cosine)) + np.exp(close)
    assert found.values[real] == pytest.approx(expected[real], abs=ROUNDING, nan_ok=True)
    assert found.values[~real].tolist() == [2.0] * int((~real).sum())
    assert np.nanmax(found.values) <= 2 * math.e


def test_a_call_without_differences_has_no_scale():
    with pytest.raises(InputError, match="is the same for all 1 segments of the call, so minmax over them"):
        SentSim().score([Segment("a", "rain", ("sun",))], CPU)


def test_sentsim_keeps_the_contract_of_a_metric_and_signs_every_option(tiny_model):
    metric = SentSim(model=str(tiny_model("bert")), words="wmd")
    check_metric(metric, SEGMENTS[:12], runtime=CPU, tolerance=ROUNDING)
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9}
    assert check_options(metric, SEGMENTS[:12], runtime=CPU, alternatives=others) == ["revision"]


# --- SUPERT: by its definition in plain numpy, which sentences stand for a reference, and the contract

SOURCE = "The cat sat on the mat. A dog lay on the rug. Rain fell in the night."


@pytest.mark.parametrize("sentences", [1, 2, 15])
def test_supert_the_value_is_what_its_definition_gives(plain, sentences):
    first = {1: "The cat sat on the mat.", 2: "The cat sat on the mat. A dog lay on the rug.", 15: SOURCE}[sentences]
    sides = []
    for text in ("the cat and the dog", first):
        names, layers = plain(text)
        kept = [i for i, n in enumerate(names) if n not in {"[CLS]", "[SEP]", *stopwords("english")}]
        vectors = layers[-1][kept]
        sides.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    table = sides[0] @ sides[1].T
    p, r = table.max(1).mean(), table.max(0).mean()
    metric = Supert(model=plain.folder, sentences=sentences)
    found = metric.score([Segment("s", "the cat and the dog", source=SOURCE)], CPU)
    assert found.values[0] == pytest.approx(2 * p * r / (p + r), abs=PARITY)
    assert found.parts["precision"][0] == pytest.approx(p, abs=PARITY)


def test_no_reference_is_read_and_an_empty_side_gets_0():
    segments = [Segment("a", "", source="Rain."), Segment("b", "Rain fell.", ("Sun.",), source="Rain.")]
    scores = Supert().score(segments, CPU)
    assert scores.values[0] == 0 < scores.values[1]
    assert scores.flags["empty"].tolist() == [True, False]


def test_supert_keeps_the_contract_of_a_metric_and_signs_every_option(tiny_model):
    check_metric(Supert(model=str(tiny_model("bert"))), SEGMENTS[:10], runtime=CPU, tolerance=PARITY)
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1, "stopwords": None}
    assert check_options(Supert(model=str(tiny_model("bert"))), runtime=CPU, alternatives=others) == ["revision"]


# --- The focus difference of DiscoScore: by hand from the encoder's vectors, and the contract


def test_nouns_lie_at_the_sum_of_their_places():
    encoder = load_encoder("embedded", None, "float32", CPU)
    texts = ["The ferry left, and the ferry came back.", "The harbour saw the ferry."]
    (a, b) = (encoder.encode([t], 4).matrix.numpy() for t in encoder.tokenizer.tokens(texts))
    first, second = (encoder.tokenizer.names(t.ids) for t in encoder.tokenizer.tokens(texts))
    ferry = sum(a[i] for i, piece in enumerate(first) if piece == "ferry") - b[second.index("ferry")]
    harbour = b[second.index("harbour")]
    expected = 1 / (1 + (ferry @ ferry + harbour @ harbour) / 2)
    found = DiscoScore().score([Segment("s", texts[0], (texts[1],))], CPU).values[0]
    assert found == pytest.approx(expected, abs=ROUNDING)


def test_what_is_said_of_the_nouns_counts():
    texts = ["The ferry leaves the harbour.", "Tomatoes need sun.", "And then he did."]
    copy, other, none = DiscoScore().score([Segment(t, t, (texts[0],)) for t in texts], CPU).values
    assert copy == pytest.approx(1, abs=ROUNDING)
    assert copy > other > none == 0


def test_discoscore_keeps_the_contract_of_a_metric():
    check_metric(DiscoScore(), SEGMENTS[:10], runtime=CPU, tolerance=ROUNDING)
    assert np.isfinite(DiscoScore().info.range).all()


def test_a_noun_that_is_cut_off_does_not_lie_at_the_last_special_token():
    # [CLS] the cat sat on the [SEP]: of "mat" nothing is read, so both sides have the cat alone
    rows = [Segment("a", "the cat sat on the mat", ("the cat sat on the rug",))]
    found = DiscoScore(max_tokens=7).score(rows, CPU)
    assert found.flags["truncated"][0]
    assert found.values[0] == pytest.approx(1, abs=ROUNDING)
