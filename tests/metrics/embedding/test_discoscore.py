"""The focus difference of DiscoScore: by hand from the encoder's vectors, and the contract."""

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.discoscore import DiscoScore
from nlgauge.models.encoder import load_encoder
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
ROUNDING = 1e-5  # float32, in batches of other shapes


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
