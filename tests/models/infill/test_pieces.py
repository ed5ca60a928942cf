"""Which pieces are words and where they stand, in three ways of writing a vocabulary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.models.infill.pieces import PieceTokenizer
from nlgauge.models.locate import locate

KINDS = ["bert", "roberta", "xlm-roberta"]


@pytest.fixture(scope="module")
def tokenizers(tiny_model):
    return {kind: PieceTokenizer(locate(str(tiny_model(kind)))) for kind in KINDS}


@pytest.mark.parametrize(
    ("kind", "piece", "bare", "continues"),
    [
        ("bert", "cat", "cat", False),
        ("bert", "##c", "c", True),
        ("bert", ",", ",", False),
        ("bert", "[SEP]", "", False),
        ("roberta", "Ġcat", "cat", False),
        ("roberta", "cat", "cat", True),
        ("roberta", ",", ",", True),
        ("roberta", "<mask>", "", True),
        ("xlm-roberta", "▁cat", "cat", False),
        ("xlm-roberta", "c", "c", True),
        ("xlm-roberta", "▁", "", False),
        ("xlm-roberta", "</s>", "", True),
    ],
)
def test_what_a_piece_is(tokenizers, kind, piece, bare, continues):
    tokenizer = tokenizers[kind]
    i = tokenizer.vocabulary.index(piece)
    assert (tokenizer.bare[i], tokenizer.continues[i]) == (bare, continues)


@pytest.mark.parametrize(
    ("kind", "marked", "uncased"), [("bert", False, True), ("roberta", True, False), ("xlm-roberta", True, False)]
)
def test_how_a_vocabulary_is_written(tokenizers, kind, marked, uncased):
    tokenizer = tokenizers[kind]
    assert (tokenizer.is_marked, tokenizer.uncased) == (marked, uncased)
    assert tokenizer.vocabulary[tokenizer.mask] in ("[MASK]", "<mask>")


@pytest.mark.parametrize("kind", KINDS)
def test_places_are_of_the_text_as_it_was(tokenizers, kind):
    text = "  the Cat\tsat, é"
    placed = tokenizers[kind].place([text])[0]
    covered = {i for start, end in zip(placed.starts, placed.ends, strict=True) for i in range(start, end)}
    assert covered == {i for i, c in enumerate(text) if not c.isspace()}


@given(text=st.text(max_size=30))
def test_pieces_follow_each_other_and_are_no_blanks_at_their_edges(tokenizers, text):
    for tokenizer in tokenizers.values():
        placed = tokenizer.place([text])[0]
        assert (placed.starts <= placed.ends).all()
        assert (placed.starts[1:] >= placed.starts[:-1]).all()
        assert not len(placed.ends) or placed.ends[-1] <= len(text)


def test_surrogates_leave_places_as_they_are(tokenizers):
    placed = tokenizers["bert"].place(["\ud83d\ude00 cat"])[0]  # two characters here, though UTF-16 would read one
    assert (placed.starts[-1], placed.ends[-1]) == (3, 6)


def test_a_tokenizer_without_places_is_refused(tiny_model):
    with pytest.raises(InputError, match="without offsets, which gaps need"):
        PieceTokenizer(locate(str(tiny_model("t5, bytes"))))
