"""Vectors that metrics share: encoded once, found again out of one chunk or several."""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from nlgauge.core.errors import InputError
from nlgauge.models.encoder import (
    MATCHED,
    Encoder,
    SharedVectors,
    bytes_of,
    combined,
    feature_names,
    load_encoder,
    n_features,
    source_of,
    texts_of,
)
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer, Tokens
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")


ROUNDING = 1e-5  # float32, in batches of other shapes


def test_vectors_are_those_of_the_encoder_and_no_sequence_is_encoded_twice(tiny_model, monkeypatch):
    runtime, model = Runtime(device="cpu"), str(tiny_model("bert"))
    source = source_of(model, None, "float32", runtime)
    shared = SharedVectors([3, 1])
    alone = load_encoder(model, None, "float32", runtime)
    together = load_encoder(model, None, "float32", runtime.sharing({source: shared}))
    asked, encode = [], Encoder._encoded
    monkeypatch.setattr(Encoder, "_encoded", lambda self, s, *rest: asked.append(len(s)) or encode(self, s, *rest))
    texts = ["the cat", "a dog lay on the rug", "the cat", "rain"]
    for wanted in (texts[:2], texts[1:], texts):  # new, partly new, out of two chunks
        tokens = alone.tokenizer.tokens(wanted)
        found = together.encode_layers(tokens, [1, 3])
        encoded = asked[-1]
        for one, other in zip(found, alone.encode_layers(tokens, [1, 3]), strict=True):
            for i, length in enumerate(one.lengths.tolist()):
                a, b = ((v.matrix * v.norms)[int(v.starts[i]) : int(v.starts[i]) + length] for v in (one, other))
                assert torch.allclose(a, b, atol=ROUNDING)
    assert asked == [2, 2, 1, 3, 4]  # shared and alone by turns; the last time nothing was new
    assert encoded == 3
    shared.clear()
    together.encode(tokens, 3)
    assert asked[-1] == 3


def test_the_memory_of_a_piece_counts_all_layers(tiny_model):
    source = source_of(str(tiny_model("bert")), None, "float32", Runtime(device="cpu"))
    width = source[1].config["hidden_size"]
    assert bytes_of({source: [1, 2, 3]}) == 3 * 4 * width
    assert np.isfinite(width)


# --- Features of a regressor: by hand on small numbers, names that say what they are


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, "hyp,ref,hyp*ref,|hyp-ref|"),
        ({"kind": "2h"}, "hyp*ref,|hyp-ref|"),
        ({"source": True}, "hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|"),  # COMET's estimator
        ({"source": True, "kind": "2h"}, "hyp*src,hyp*ref,|hyp-src|,|hyp-ref|"),
        ({"source": True, "reference": False}, "hyp,src,hyp*src,|hyp-src|"),
        ({"kind": "4h+match"}, "hyp,ref,hyp*ref,|hyp-ref|,match"),
        ({"kind": "2h+match", "source": True}, "hyp*src,hyp*ref,|hyp-src|,|hyp-ref|,match"),
    ],
)
def test_the_blocks_of_each_kind(options, names):
    found = feature_names(**options)
    assert ",".join(found) == names
    assert texts_of(found) == tuple(text for text in ("hyp", "ref", "src") if text in names)


def test_the_features_of_three_numbers_by_hand():
    hyp, ref, src = torch.tensor([[1.0, -2.0, 0.5]]), torch.tensor([[3.0, 2.0, 0.0]]), torch.tensor([[0.0, 1.0, 1.0]])
    vectors = {"hyp": hyp, "ref": ref, "src": src}
    assert combined(feature_names(), vectors).tolist() == [[1, -2, 0.5, 3, 2, 0, 3, -4, 0, 2, 4, 0.5]]
    assert combined(feature_names("2h"), vectors).tolist() == [[3, -4, 0, 2, 4, 0.5]]
    assert combined(feature_names(source=True), vectors).tolist() == [
        [1, -2, 0.5, 3, 2, 0, 0, -2, 0.5, 3, -4, 0, 1, 3, 0.5, 2, 4, 0.5]
    ]


@pytest.mark.parametrize("name", ["mt", "hyp*mt", "hyp-ref", "|hyp|", "hyp*ref*src", ""])
def test_features_that_are_none_are_refused_by_name(name):
    with pytest.raises(InputError, match=r"feature '.*' is unknown, expected one like hyp, hyp\*ref or \|hyp-ref\|"):
        texts_of([name])


def test_a_regressor_needs_something_to_hold_a_text_against():
    with pytest.raises(InputError, match="nothing to hold a text against"):
        feature_names(reference=False)
    with pytest.raises(InputError, match=r"features is '3h', expected 4h, 2h, match, 4h\+match, 2h\+match or both"):
        feature_names("3h")
    with pytest.raises(InputError, match="features is 'match', which matches a text with its reference, and no"):
        feature_names("match", reference=False, source=True)


def test_both_texts_in_one_sequence_are_hypothesis_and_reference():
    assert (feature_names("both"), texts_of(["both"])) == (("both",), ("hyp", "ref"))
    with pytest.raises(InputError, match="in one sequence and no source"):
        feature_names("both", reference=False, source=True)


def test_matching_alone_reads_both_texts_and_no_vectors():
    assert (feature_names("match"), texts_of(["match"])) == (("match",), ("hyp", "ref"))
    assert n_features(feature_names("match"), 384) == len(MATCHED) == 19
    assert n_features(feature_names("2h+match"), 384) == 2 * 384 + 19
    matched, vectors = torch.arange(19.0)[None], {"hyp": torch.tensor([[2.0]]), "ref": torch.tensor([[5.0]])}
    assert combined(feature_names("2h+match"), vectors, matched).tolist() == [[10, 3, *range(19)]]


TEXTS = [
    "the cat sat on the mat", "the", "", "a dog lay on a rug today", "the cat sat on the mat", "not good", "x" * 40,
]  # fmt: skip
CLOSE = 1e-6  # unit vectors in float32


@pytest.fixture(scope="session")
def tiny(tiny_model):
    """A function from options of a runtime to the encoder of the tiny BERT."""
    return lambda kind="bert", max_tokens=None, **options: load_encoder(
        str(tiny_model(kind)), None, "float32", Runtime(**options), max_tokens
    )


def rows(vectors, text):
    start = int(vectors.starts[text])
    return vectors.matrix[start : start + int(vectors.lengths[text])]


@dataclass
class Limits:
    """What the encoder asks a tokenizer: how long a sequence may be and what stands around its content."""

    max_tokens: int | None
    prefix: np.ndarray
    suffix: np.ndarray


class Places:
    """A network that says of every token where in its sequence it stands.

    The vector (place, 1), before it is made one long.
    """

    width, device, batch_tokens = 2, torch.device("cpu"), 8

    def __init__(self):
        self.seen = []

    @contextmanager
    def cut(self, layer):
        def forward(sequences):
            self.seen += [s.tolist() for s in sequences]
            return torch.cat([torch.stack([torch.arange(float(len(s))), torch.ones(len(s))], 1) for s in sequences])

        yield forward


def windowed(n, limit, prefix=(101,), suffix=(102,)):
    """The sequences read for a text of n pieces, and for each of its rows its place in the sequence it came from."""
    files = locate("embedded")
    network = Places()
    encoder = Encoder(
        files, Limits(limit, np.array(prefix, dtype=np.int64), np.array(suffix, dtype=np.int64)), network, None
    )
    text = Tokens(np.array([*prefix, *range(n), *suffix], dtype=np.int64), n, False)
    vectors = encoder.encode([text], 3)
    assert vectors.lengths.tolist() == [len(text.ids)]
    found = rows(vectors, 0)
    return sorted(network.seen, key=lambda s: s[len(prefix)]), (found[:, 0] / found[:, 1]).round().int().tolist()


def test_vectors_are_the_networks_states_made_one_long(tiny):
    encoder = tiny()
    tokens = encoder.tokenizer.tokens(TEXTS)
    vectors = encoder.encode(tokens, 2)
    assert vectors.matrix.dtype == torch.float32
    assert vectors.lengths.tolist() == [len(t.ids) for t in tokens]
    with torch.inference_mode(), encoder.network.cut(2) as forward:
        for number, text in enumerate(tokens):
            raw = forward([text.ids])
            torch.testing.assert_close(rows(vectors, number), raw / raw.norm(dim=1, keepdim=True), atol=CLOSE, rtol=0)


@pytest.mark.parametrize(("kind", "budget"), [("bert", 1), ("bert", 20), ("distilbert", 7), ("t5", 10_000)])
def test_the_budget_of_tokens_changes_no_vector(tiny, kind, budget):
    encoder, other = tiny(kind), tiny(kind, token_budget=budget)
    tokens = encoder.tokenizer.tokens(TEXTS)
    vectors, found = encoder.encode(tokens, 3), other.encode(tokens, 3)
    for number in range(len(TEXTS)):
        torch.testing.assert_close(rows(found, number), rows(vectors, number), atol=CLOSE, rtol=0)


@given(order=st.permutations(range(len(TEXTS))), n=st.integers(1, len(TEXTS)))
def test_a_texts_vectors_depend_neither_on_order_nor_on_company(tiny, order, n):
    encoder = tiny()
    tokens = encoder.tokenizer.tokens(TEXTS)
    everything, some = encoder.encode(tokens, 1), encoder.encode([tokens[i] for i in order[:n]], 1)
    for number, i in enumerate(order[:n]):
        torch.testing.assert_close(rows(some, number), rows(everything, i), atol=CLOSE, rtol=0)


def test_a_vector_of_zeros_stays_zero():
    class Zeros(Places):
        @contextmanager
        def cut(self, layer):
            yield lambda sequences: torch.zeros(sum(map(len, sequences)), 2)

    encoder = Encoder(locate("embedded"), Limits(None, np.zeros(0, np.int64), np.zeros(0, np.int64)), Zeros(), None)
    assert torch.equal(encoder.encode([Tokens(np.arange(3), 3, False)], 1).matrix, torch.zeros(3, 2))  # not NaN


def test_progress_counts_every_piece(tiny):
    encoder = tiny(token_budget=10)
    tokens = encoder.tokenizer.tokens(TEXTS)
    told = []
    encoder.encode(tokens, 1, told.append)
    assert len(told) > 1
    assert sum(told) == sum(len(t.ids) for t in tokens)


def test_windows_by_hand():
    # ten pieces, six a sequence with both ends: windows of four begin at 0, 2, 4, 6; borders half-way through what two
    # share: 3, 5, 7
    seen, places = windowed(10, 6)
    assert seen == [[101, 0, 1, 2, 3, 102], [101, 2, 3, 4, 5, 102], [101, 4, 5, 6, 7, 102], [101, 6, 7, 8, 9, 102]]
    #                 [CLS] 0  1  2 | 3  4 | 5  6 | 7  8  9  [SEP]     the place of each in its window, which begins
    # with [CLS] at 0
    assert places == [0, 1, 2, 3, 2, 3, 2, 3, 2, 3, 4, 5]


@given(n=st.integers(1, 60), room=st.integers(1, 12), prefix=st.integers(0, 2), suffix=st.integers(0, 2))
def test_a_piece_takes_its_vector_from_the_window_in_which_it_stands_farthest_from_an_edge(n, room, prefix, suffix):
    seen, places = windowed(n, room + prefix + suffix, (101,) * prefix, (102,) * suffix)
    windows = [s[prefix : len(s) - suffix] for s in seen]
    assert all(len(w) <= room for w in windows)
    for piece, place in zip(range(n), places[prefix : prefix + n], strict=True):
        depths = [min(w.index(piece), len(w) - 1 - w.index(piece)) for w in windows if piece in w]
        own = place - prefix
        window = next(w for w in windows if own < len(w) and w[own] == piece)
        assert min(own, len(window) - 1 - own) == max(depths)


def test_long_texts_are_read_in_windows_beside_short_ones(tiny):
    # the same text has the same vectors whether others in the call are read in windows or not
    encoder = tiny()
    tokens = encoder.tokenizer.tokens(["the cat", "the cat sat on the mat " * 30, "a dog"], "windows")
    vectors = encoder.encode(tokens, 2)
    assert vectors.lengths.tolist() == [4, 182, 4]
    for number in range(3):
        torch.testing.assert_close(
            rows(vectors, number), rows(encoder.encode([tokens[number]], 2), 0), atol=CLOSE, rtol=0
        )
    # the first window of the long text is the text cut to the limit: its first half is taken as it is
    (cut,) = encoder.tokenizer.tokens(["the cat sat on the mat " * 30])
    torch.testing.assert_close(rows(vectors, 1)[:24], rows(encoder.encode([cut], 2), 0)[:24], atol=CLOSE, rtol=0)


def test_one_network_serves_a_runtime_and_another_precision_another(tiny_model):
    runtime, folder = Runtime(), str(tiny_model("bert"))
    first, again = (
        load_encoder(folder, None, "float32", runtime),
        load_encoder(folder, None, "float32", runtime, max_tokens=10),
    )
    assert first.network is again.network
    assert (first.tokenizer.max_tokens, again.tokenizer.max_tokens) == (48, 10)
    assert load_encoder(folder, None, "bfloat16", runtime).network is not first.network
    assert load_encoder(folder, None, "float32", Runtime()).network is not first.network


def test_a_model_that_was_trained_on_is_loaded_again(tiny_model, tmp_path):
    folder, runtime = tmp_path / "model", Runtime()
    shutil.copytree(tiny_model("bert"), folder)
    before = load_encoder(str(folder), None, "float32", runtime)
    weights = load_file(folder / "model.safetensors")
    save_file({key: tensor * 2 for key, tensor in weights.items()}, folder / "model.safetensors")
    after = load_encoder(str(folder), None, "float32", runtime)
    tokens = before.tokenizer.tokens(["the cat sat"])
    assert (before.encode(tokens, 1).matrix - after.encode(tokens, 1).matrix).abs().max() > 0.01


def test_the_family_says_which_network_reads_a_model(tiny):
    assert type(tiny("roberta").network).__name__ == "PackedBert"
    assert type(tiny("modernbert").network).__name__ == "HubNetwork"
    assert type(tiny("distilbert").network).__name__ == "HubNetwork"


def test_a_device_that_is_not_there_is_refused(tiny_model):
    with pytest.raises(InputError, match=r"device 'cuda:99' cannot be used here: .*; try --device cpu") as refused:
        load_encoder(str(tiny_model("bert")), None, "float32", Runtime(device="cuda:99"))
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="device 'sundial'"):
        load_encoder(str(tiny_model("bert")), None, "float32", Runtime(device="sundial"))


def test_a_tokenizer_is_made_once_a_runtime(tiny_model):
    runtime = Runtime()
    first, again = (load_encoder(str(tiny_model("bert")), None, "float32", runtime) for _ in range(2))
    assert isinstance(first.tokenizer, TextTokenizer)
    assert first.tokenizer is again.tokenizer
