import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.models.locate import locate
from nlgauge.models.pairs import PairTokenizer, _cut

pytest.importorskip("torch")
TEXTS = [
    "the cat sat",
    "rain fell today",
    "a",
    "not good morning, the dog lay on the rug!",
    "今天雨",
    "the cat " * 40,
    "[SEP] a </s> b",
]
FAMILIES = ["bert", "roberta", "xlm-roberta", "deberta-v2", "bart", "albert", "t5", "mpnet"]


def one(tokenizer, first, second):
    """Ids, types and whether anything was cut, of one pair."""
    found = tokenizer.pairs([(first, second)], tokenizer.read([first, second]))
    ids, types = found.ids(0)
    assert len(ids) == len(types) == found.lengths[0]
    return ids.tolist(), types.tolist(), bool(found.truncated[0])


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize(
    "limit", [None, pytest.param(8, marks=pytest.mark.slow), 9, pytest.param(16, marks=pytest.mark.slow)]
)
def test_a_pair_is_that_of_transformers(tiny_model, kind, limit):
    from transformers import AutoTokenizer

    folder = tiny_model(kind)
    theirs = AutoTokenizer.from_pretrained(folder)
    ours = PairTokenizer(locate(str(folder)), limit)
    for first in TEXTS:
        for second in TEXTS:
            whole = theirs(first.strip(), second.strip(), verbose=False)
            expected = theirs(first.strip(), second.strip(), truncation="longest_first", max_length=limit or 48)
            ids, types, cut = one(ours, first, second)
            assert ids == expected["input_ids"]
            assert types == expected.get("token_type_ids", [0] * len(ids))
            assert cut is (len(whole["input_ids"]) > (limit or 48))


def test_the_embedded_encoder_frames_two_texts_as_bert_does():
    from transformers import AutoTokenizer

    files = locate("embedded")
    theirs = AutoTokenizer.from_pretrained(files.folder)
    theirs.model_max_length = 512
    expected = theirs("A man sleeps.", "Nobody is asleep!")
    assert one(PairTokenizer(files, 256), " A man sleeps.", "Nobody is asleep!\n") == (
        expected["input_ids"],
        expected["token_type_ids"],
        False,
    )


@pytest.mark.parametrize(
    ("sizes", "room", "kept"),
    [
        ((3, 4), 7, (3, 4)),  # they fit
        ((3, 9), 7, (3, 4)),  # the longer gives
        ((9, 3), 7, (4, 3)),
        ((9, 8), 7, (4, 3)),  # both give; of an odd room the longer keeps one more
        ((8, 9), 7, (3, 4)),
        ((9, 9), 7, (3, 4)),  # alike: the second
        ((0, 9), 7, (0, 7)),
        ((9, 9), 8, (4, 4)),
        ((0, 0), 7, (0, 0)),
    ],
)
def test_the_longer_side_is_cut_first(sizes, room, kept):
    assert tuple(_cut(np.array([sizes]), room)[0]) == kept


@given(st.integers(0, 60), st.integers(0, 60), st.integers(2, 60))
def test_what_is_cut_fills_the_room_and_nothing_else_is(n, m, room):
    kept = _cut(np.array([(n, m)]), room)[0]
    assert kept.sum() == min(n + m, room)
    assert (kept <= (n, m)).all()
    assert abs(int(kept[0]) - int(kept[1])) <= 1 or kept[0] == n or kept[1] == m


def test_each_text_is_read_once_and_blanks_around_it_do_not_count(tiny_model):
    tokenizer = PairTokenizer(locate(str(tiny_model("roberta"))))
    contents = tokenizer.read(["cat", "cat", " cat\n", "dog \ud800"])
    assert list(contents) == ["cat", " cat\n", "dog \ud800"]
    assert contents["cat"].tolist() == contents[" cat\n"].tolist()


def test_a_limit_that_leaves_no_room_is_refused(tiny_model):
    files = locate(str(tiny_model("bert")))
    assert PairTokenizer(files, 5).room == 2
    assert PairTokenizer(files, 1000).max_tokens == 48  # the model's own
    with pytest.raises(
        InputError, match=r"^max_tokens is 4, expected at least 5: the special tokens and a piece of each text$"
    ):
        PairTokenizer(files, 4)


def test_no_pairs(tiny_model):
    found = PairTokenizer(locate(str(tiny_model("bert")))).pairs([], {})
    assert found.lengths.shape == found.truncated.shape == (0,)


def test_a_tokenizer_without_a_fast_form_frames_a_pair_too(tiny_model):
    from transformers import AutoTokenizer

    folder = tiny_model("t5, bytes")
    expected = AutoTokenizer.from_pretrained(folder)("a cat", "b")["input_ids"]
    assert one(PairTokenizer(locate(str(folder))), "a cat", "b")[0] == expected
