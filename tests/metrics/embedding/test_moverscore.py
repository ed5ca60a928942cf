"""MoverScore: both published variants by their definitions in plain numpy, and the contract."""

import math
import string

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.moverscore import MoverScore
from nlgauge.metrics.embedding.points.stopwords import are_stopped, stopwords
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here
NEAR = 1e-5  # the root of a squared distance doubles the share of rounding where two points nearly meet

SETTINGS = [
    *(
        {"ngram": n, "idf": idf, "drop_subwords": drop}
        for n in (1, 2)
        for idf in (False, True)
        for drop in (False, True)
    ),
    *({"variant": "last", "idf": idf} for idf in (False, True)),
]  # the ten of the published code


def idf(documents, plain):
    """Piece -> log((N + 1) / (df + 1)) over documents, as the published code counts."""
    counts = {}
    for text in documents:
        for piece in set(plain(text)[0]):
            counts[piece] = counts.get(piece, 0) + 1
    return lambda piece: math.log((len(documents) + 1) / (counts.get(piece, 0) + 1))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def slow(hyp, ref, weigh, plain, cheapest, variant="pmeans", ngram=1, drop_subwords=True, **_):
    """The definition, one pair at a time: nothing of nlgauge."""
    sides = []
    for text, weight in zip((hyp, ref), weigh, strict=True):
        names, layers = plain(text)
        kept = [
            i for i, n in enumerate(names) if n not in set(string.punctuation) and not (drop_subwords and "##" in n)
        ]
        if variant == "pmeans":
            last = unit(layers[1:][-5:])
            points = np.concatenate([last.min(0), last.mean(0), last.max(0)], axis=-1)
        else:
            points = unit(layers[-1])
        size = min(ngram, len(kept))
        windows = [kept[i : i + size] for i in range(len(kept) - size + 1)]
        sums = [sum(weight(names[i]) for i in window) for window in windows]
        means = [sum(weight(names[i]) * points[i] for i in w) / (s + 1e-5) for w, s in zip(windows, sums, strict=True)]
        sides.append((np.array([m / (np.linalg.norm(m) or 1) for m in means]), np.array(sums)))
    (a, first), (b, second) = sides
    if not first.any() or not second.any():
        return np.nan
    squares = ((a[:, None] - b[None]) ** 2).sum(-1)
    moved = cheapest(squares if variant == "pmeans" else np.sqrt(squares), first, second)
    return 1 - moved if variant == "pmeans" else 1 / (1 + moved)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_the_ten_settings_are_what_their_definition_gives(pairs, plain, cheapest, options):
    found = MoverScore(model=plain.folder, **options).score(pairs, CPU)
    weigh = [lambda piece: 1.0] * 2
    if options["idf"]:
        weigh = [idf([s.hypothesis for s in pairs], plain), idf([s.references[0] for s in pairs], plain)]
    asked = np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"]))
    assert len(asked) > 40
    expected = [slow(pairs[i].hypothesis, pairs[i].references[0], weigh, plain, cheapest, **options) for i in asked]
    assert found.values[asked] == pytest.approx(np.array(expected), abs=PARITY, nan_ok=True)


@pytest.mark.parametrize("options", [{}, {"variant": "last", "ngram": 2, "references": "best"}, {"idf": True}], ids=str)
def test_moverscore_keeps_the_contract_of_a_metric(tiny_model, options):
    check_metric(MoverScore(model=str(tiny_model("bert")), **options), runtime=CPU, tolerance=NEAR)


def test_every_option_is_in_the_signature(tiny_model, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("the a\n")
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "stopwords": str(words)}
    assert check_options(MoverScore(model=str(tiny_model("bert"))), runtime=CPU, alternatives=others) == ["revision"]


def test_an_empty_text_is_the_worst_and_never_perfect():
    pairs = [Segment("a", "", ("Rain.",)), Segment("b", "", ("",)), Segment("c", "Rain.", ("",))]
    for variant, worst in (("pmeans", -3), ("last", 0)):
        for weighted in (False, True):
            metric = MoverScore(variant=variant, idf=weighted)
            scores = metric.score([*pairs, Segment("d", "Sun.", ("Sun.",))], CPU)
            assert scores.values[:3].tolist() == [worst] * 3
            assert scores.flags["empty"].tolist() == [True, True, True, False]


def test_a_text_that_weighs_nothing_has_no_score():
    """Where every text has the same pieces, their idf is 0; the published code scores 1."""
    same = [Segment(str(i), "rain rain", ("rain",)) for i in range(3)]
    scores = MoverScore(idf=True).score(same, CPU)
    assert np.isnan(scores.values).all()
    assert scores.flags["unweighted"].all()


def test_stop_words_are_left_out(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("rain")
    mixed = [Segment("a", "rain sun", ("sun",))]
    plain_score = MoverScore().score(mixed, CPU).values[0]
    assert MoverScore(stopwords=str(words)).score(mixed, CPU).values[0] > plain_score
    english = MoverScore(stopwords="english").score([Segment("a", "the sun", ("sun",))], CPU)
    assert "stopwords:english" in str(english.signature)
    with pytest.raises(InputError, match="cannot read the stop words nowhere"):
        MoverScore(stopwords="nowhere.txt").score(mixed, CPU)


def test_paraphrases_lie_nearer_than_other_sentences():
    texts = ["The ferry leaves at seven.", "At seven o'clock the ferry departs.", "Tomatoes need a lot of sun."]
    for spec in ("moverscore", "moverscore:variant=last", "moverscore:ngram=2"):
        copy, near, far = ng.score(texts, [texts[0]] * 3, metrics=spec, runtime=CPU)[spec].values
        assert copy == pytest.approx(1, abs=1e-6)
        assert copy > near > far


def test_what_cannot_be_is_refused():
    with pytest.raises(SpecError, match=r"moverscore:ngram is '3'; known: 1, 2"):
        ng.metric("moverscore:ngram=3")
    with pytest.raises(InputError, match="idf needs at least two documents"):
        MoverScore(idf=True).score([Segment("a", "x", ("y",))], CPU)


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "bart"])
def test_a_stop_word_is_a_piece_of_its_own_in_every_vocabulary(tiny_model, tmp_path, kind):
    # Ġthe and ▁the are the word; in "bathe" the piece "the" or "he" continues one. BART marks no first word.
    words = tmp_path / "words.txt"
    words.write_text("the he a cat")
    tokenizer = TextTokenizer(locate(str(tiny_model(kind))))
    (tokens,) = tokenizer.tokens(["cat the cat bathe lathe"])
    content = slice(len(tokenizer.prefix), len(tokenizer.prefix) + tokens.n_content)
    out = are_stopped(tokens.ids, content, stopwords(str(words)), tokenizer)
    assert out[:4].tolist() == [False, True, True, True]
    assert not out[4:].any()
