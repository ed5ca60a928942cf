"""What is learnt from: read line by line, one example per reference, in batches that keep references together."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.files import InputFile
from nlgauge.models.infill import PieceTokenizer
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer
from nlgauge.training.examples import (
    Example,
    ExampleTexts,
    grouped_batches,
    rated_examples,
    read_triples,
    related_examples,
    renumbered,
    with_extremes,
)
from nlgauge.training.infill import encode_texts, masked, read_texts

pytest.importorskip("torch")


def file_of(tmp_path, *rows):
    path = tmp_path / "triples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return InputFile(str(path))


def test_a_triple_is_an_example_for_each_reference(tmp_path):
    rows = [
        {"hyp": "a cat", "refs": ["the cat", "one cat"], "score": -1, "steps": []},
        {"hyp": "rain", "ref": "snow", "score": -5.0},
    ]
    assert read_triples(file_of(tmp_path, *rows)) == [
        Example({"hyp": "a cat", "ref": "the cat"}, -1.0, 0),
        Example({"hyp": "a cat", "ref": "one cat"}, -1.0, 0),
        Example({"hyp": "rain", "ref": "snow"}, -5.0, 1),
    ]
    with pytest.raises(InputError, match="holds no triples"):
        read_triples(file_of(tmp_path))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"hyp": "a", "refs": ["b"]},
            (
                r"line 2: score is missing, expected an object .*'nlgauge synth' writes them, 'nlgauge train regressor'"
                r" takes"
            ),
        ),
        ({"hyp": "a", "refs": ["b"], "score": "-1"}, "line 2: score is str"),
        ({"hyp": "a", "refs": ["b"], "score": 72}, "line 2: score is 72, expected 0 or less"),
        ({"hyp": "a", "refs": ["b"], "score": True}, "line 2: score is bool"),
        ({"hyp": "a", "score": -1}, "line 2: refs is missing"),
        ({"hyp": "a", "refs": [], "score": -1}, "line 2: refs is an empty list"),
        ({"hyp": "a", "refs": [3], "score": -1}, "line 2: refs is list"),
        ({"refs": ["b"], "score": -1}, "line 2: hyp is missing"),
        (["a", "b"], "line 2: list, expected an object"),
    ],
)
def test_a_line_that_is_no_triple_is_named(tmp_path, row, message):
    with pytest.raises(InputError, match=message.replace("line 2", r"triples\.jsonl(:2|, line 2)")):
        read_triples(file_of(tmp_path, {"hyp": "a", "refs": ["b"], "score": -1}, row))


def test_ratings_become_examples_of_what_is_read():
    segments = [Segment("1", "a", ("b", "c"), source="d"), Segment("2", "e", ("f",), source="g")]
    assert rated_examples(segments, [0.5, np.nan]) == [
        Example({"hyp": "a", "ref": "b"}, 0.5, 0),
        Example({"hyp": "a", "ref": "c"}, 0.5, 0),
    ]
    assert rated_examples(segments, [np.nan, 2], source=True) == [Example({"hyp": "e", "src": "g", "ref": "f"}, 2.0, 1)]
    assert rated_examples(segments, [1, 2], reference=False, source=True)[0] == Example(
        {"hyp": "a", "src": "d"}, 1.0, 0
    )
    with pytest.raises(InputError, match="segment '1' has no source"):
        rated_examples([Segment("1", "a", ("b",))], [1], source=True)
    with pytest.raises(InputError, match="segment '1' has no reference"):
        rated_examples([Segment("1", "a", source="b")], [1])


def test_owners_of_several_files_are_kept_apart():
    one = [Example({"hyp": "a", "ref": "b"}, 0.0, 0), Example({"hyp": "a", "ref": "c"}, 0.0, 0)]
    assert [e.owner for e in renumbered([one, one, one])] == [0, 0, 1, 1, 2, 2]


def test_copies_are_references_at_the_best_score():
    examples = [Example({"hyp": f"h{i}", "ref": f"r{i // 2}"}, -1.0, i) for i in range(8)]
    assert with_extremes(examples, 0.0, 0.0, -25.0, 1) == examples
    added = with_extremes(examples, 0.5, 0.0, -25.0, 1)[8:]
    assert len(added) == 2  # half of four references
    assert all(e.texts["hyp"] == e.texts["ref"] and e.score == 0 for e in added)
    assert [e.owner for e in added] == [8, 9]
    assert {e.texts["ref"] for e in with_extremes(examples, 1.0, 0.0, -25.0, 1)[8:]} == {"r0", "r1", "r2", "r3"}


def test_unrelated_hypotheses_are_other_references_at_the_worst_score():
    examples = [Example({"hyp": f"h{i}", "ref": f"r{i // 2}"}, -1.0, i) for i in range(8)]
    assert with_extremes(examples, 0.0, 0.0, -25.0, 1) == examples
    added = with_extremes(examples, 0.0, 1.0, -25.0, 1)[8:]
    assert [e.texts["ref"] for e in added] == ["r0", "r1", "r2", "r3"]
    assert all(e.texts["hyp"] in {"r0", "r1", "r2", "r3"} - {e.texts["ref"]} and e.score == -25 for e in added)
    assert [e.owner for e in added] == [8, 9, 10, 11]
    assert len(with_extremes(examples, 0.0, 0.5, -25.0, 1)) == 10
    with pytest.raises(InputError, match="all triples have one reference"):
        with_extremes(examples[:2], 0.0, 1.0, -25.0, 1)


def test_equal_texts_are_numbered_once(tiny_model):
    texts = ExampleTexts(TextTokenizer(locate(str(tiny_model("bert"))), 8, space=False))
    examples = [
        Example({"hyp": "the cat", "ref": "a dog"}, -1.0, 0),
        Example({"hyp": " a dog ", "ref": "a dog"}, 0.0, 1),
    ]
    found = texts.encode(examples)
    assert {name: place.tolist() for name, place in found.places.items()} == {"hyp": [0, 1], "ref": [1, 1]}
    assert found.groups.tolist() == [0, 0]
    assert found.lengths.tolist() == [4, 4]  # two words in a frame of two
    more = texts.encode([Example({"hyp": "the cat", "ref": "the cat sat on the mat and lay on it"}, -2.0, 0)])
    assert more.places["hyp"].tolist() == [0]
    assert (len(texts.ids), texts.n_cut) == (3, 1)
    assert more.lengths.tolist() == [8]


sizes = st.lists(st.tuples(st.integers(0, 6), st.integers(3, 40)), min_size=1, max_size=60)


@given(rows=sizes, size=st.integers(1, 9), seed=st.integers(0, 5), epoch=st.integers(0, 3))
def test_every_example_stands_in_one_batch_of_a_pass(rows, size, seed, epoch):
    _, groups = np.unique([group for group, _ in rows], return_inverse=True)
    lengths = np.array([length for _, length in rows])
    batches = grouped_batches(groups, lengths, size, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(rows)))
    assert len(batches) == -(-len(rows) // size)
    assert sorted(len(b) for b in batches)[1:] == [size] * (len(batches) - 1)
    again = grouped_batches(groups, lengths, size, seed, epoch)
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))


def test_what_is_held_against_one_text_stands_together_and_passes_differ():
    groups = np.repeat(np.arange(40), 3)
    lengths = np.repeat(np.arange(40) % 5 + 4, 3)
    first, second = (grouped_batches(groups, lengths, 6, 0, epoch) for epoch in (0, 1))
    assert all(len(set(groups[b])) == 2 for b in first)  # six examples, three a group
    assert all(np.ptp(lengths[b]) <= 1 for b in first)  # 24 examples of each length fill batches of 6
    assert [b.tolist() for b in first] != [b.tolist() for b in second]


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_score_of_too_many_digits_is_told_in_one_line(tmp_path, sign):
    path = tmp_path / "triples.jsonl"
    path.write_text(f'{{"hyp": "a", "refs": ["b"], "score": {sign}1{"0" * 400}}}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"triples\.jsonl:1: score is -?10+\.\.\., expected a number of 64 bits"):
        read_triples(InputFile(path))


def turns(*texts):
    return tuple({"speaker": "A", "text": text} for text in texts)


def test_every_reply_stands_beside_its_query_and_beside_replies_to_others():
    segments = [
        Segment("1", "ignored", ("a", "b"), context=turns("x", "q")),
        Segment("2", "c", context=turns("r", " ")),  # without references the hypothesis is the reply
        Segment("3", "a", context=turns("q")),  # the query of the first again, and a reply that is known
        Segment("4", " ", context=turns("s")),
    ]
    examples = related_examples(segments)
    assert [(e.texts["src"], e.texts["hyp"], e.score) for e in examples if e.score] == [
        ("q", "a", 1.0),
        ("q", "b", 1.0),
        ("r", "c", 1.0),
    ]
    others = [(e.texts["src"], e.texts["hyp"]) for e in examples if not e.score]
    assert [query for query, _ in others] == ["q", "q", "r"]
    assert others[0][1] == others[1][1] == "c"
    assert others[2][1] in {"a", "b"}
    assert [e.owner for e in examples] == list(range(6))


def test_replies_to_other_queries_are_drawn_with_the_seed():
    segments = [Segment(str(i), f"reply {i}", source=f"query {i}") for i in range(20)]  # no context: the query is src
    drawn = related_examples(segments, seed=1)
    assert drawn == related_examples(segments, seed=1)
    assert drawn != related_examples(segments, seed=2)
    others = [(e.texts["src"], e.texts["hyp"]) for e in drawn if not e.score]
    assert [query for query, _ in others] == [f"query {i}" for i in range(20)]
    assert not [query for query, reply in others if query.split()[1] == reply.split()[1]]


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        (Segment("s", "a"), "segment 's' has no context and no source, expected a query"),
        (Segment("s", "a", source="q"), "all queries have the same replies, expected at least two"),
        (Segment("s", " ", source="q"), "there is no query with a reply, expected at least two"),
    ],
)
def test_dialogues_of_which_nothing_is_learnt_are_refused(segment, message):
    with pytest.raises(InputError, match=message):
        related_examples([segment])


# --- What is masked, and what the texts say of their words

TEXTS = ["the cat sat on the mat, today", "A xyz dog lay on a rug", "the Cat fell on the Cat", "cat"]


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return PieceTokenizer(locate(str(tiny_model("bert"))), 12)


@pytest.fixture(scope="module")
def texts(tokenizer):
    return encode_texts(TEXTS, tokenizer)


def pieces(tokenizer, ids):
    return [tokenizer.vocabulary[i] for i in ids]


def test_words_of_one_piece_are_what_can_be_masked(tokenizer, texts):
    assert (len(texts.ids), texts.n_left_out, texts.n_cut) == (3, 1, 0)  # "cat" alone says nothing of itself
    assert pieces(tokenizer, texts.ids[1]) == ["[CLS]", "a", "x", "##y", "##z", "dog", "lay", "on", "a", "rug", "[SEP]"]
    assert pieces(tokenizer, texts.ids[1][texts.words[1]]) == ["a", "dog", "lay", "on", "a", "rug"]
    assert "," in pieces(tokenizer, texts.ids[0][texts.words[0]])
    counts = texts.counts(len(tokenizer.vocabulary))
    assert counts[tokenizer.vocabulary.index("the")] == 4
    assert counts[tokenizer.vocabulary.index("##y")] == 0


def test_what_is_too_long_is_cut_and_counted(tokenizer):
    found = encode_texts(["the cat sat on the mat " * 3], tokenizer)
    assert (found.lengths.tolist(), found.n_cut) == ([12], 1)
    assert found.words[0].tolist() == list(range(1, 11))
    with pytest.raises(InputError, match="no text has 3 words that the model knows, of 2"):
        encode_texts(["?", "cat"], tokenizer)


def test_capitals_inside_a_sentence_make_names(tokenizer):
    found = encode_texts(["the Cat sat on the MAT", "the Cat fell not", "Dog rain fell, Dog sat"], tokenizer)
    named = {
        word: tuple(found.capital[:, tokenizer.vocabulary.index(word)].tolist())
        for word in ("cat", "mat", "dog", "sat")
    }
    # "Dog" stands at the beginning and behind a comma: that says nothing
    assert named == {"cat": (True, False), "mat": (True, True), "dog": (False, False), "sat": (False, False)}


@pytest.mark.parametrize(("share", "expected"), [(0.001, [1, 1, 1]), (0.5, [4, 3, 3]), (1.0, [8, 6, 6])])
def test_a_share_of_the_words_is_masked_and_at_least_one(tokenizer, texts, share, expected):
    rows, places = masked(texts, [0, 1, 2], share, 0.0, tokenizer.mask, 9, np.random.default_rng(0))
    assert [len(place) for place in places] == expected
    for i, (row, place) in enumerate(zip(rows, places, strict=True)):
        assert (row[place] == tokenizer.mask).all()
        others = np.setdiff1d(np.arange(len(row)), place)
        assert (row[others] == texts.ids[i][others]).all()
        assert set(place) <= set(texts.words[i])
    assert tokenizer.mask not in np.concatenate(texts.ids)  # the texts stay as they were


def test_of_what_is_shown_half_is_another_piece(tokenizer, texts):
    size, other, same, n = len(tokenizer.vocabulary), 0, 0, 0
    for seed in range(300):
        rows, places = masked(texts, [0], 1.0, 0.4, tokenizer.mask, size, np.random.default_rng(seed))
        shown = rows[0][places[0]]
        own = texts.ids[0][places[0]]
        n += len(shown)
        same += int((shown == own).sum())
        other += int(((shown != own) & (shown != tokenizer.mask)).sum())
    # 2400 words: 0.2 each, three standard deviations are 0.025; a piece drawn at random may be the word itself or the
    # mask (2 of about 90)
    assert same / n == pytest.approx(0.2, abs=0.03)
    assert other / n == pytest.approx(0.2, abs=0.03)


def test_lines_are_texts_and_blank_ones_are_none(tmp_path):
    (tmp_path / "a.txt").write_text("one two\n\n  \nthree\n")
    assert read_texts([InputFile(str(tmp_path / "a.txt"))]) == ["one two", "three"]
    (tmp_path / "b.txt").write_text("\n\n")
    with pytest.raises(InputError, match=r"b\.txt holds no text, expected one sentence per line"):
        read_texts([InputFile(str(tmp_path / "b.txt"))])
