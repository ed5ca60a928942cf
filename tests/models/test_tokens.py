import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.models import tokens as module
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.tokens import TextTokenizer

pytest.importorskip("tokenizers")
LIMIT = 48  # of the tiny models, special tokens included
TEXTS = [
    "the cat sat on the mat",
    "",
    "  \t\n",
    "The CAT, sat!",
    "...",
    "\U0001f642 \U0001f469\u200d\U0001f469\u200d\U0001f467",
    "今天雨",
    "cafe\u0301 na\u00efve",
    "\u00a0the\u2003cat\u3000",
    "x" * 150,
    "[CLS] <s> [SEP] </s> [MASK]",
    "\ufffd\u200b\u00ad",
    "the\u2028cat\rsat",
    "not " * 100,
]


@pytest.fixture(scope="session")
def tiny(tiny_model):
    """A function from a kind of tiny model to its tokenizer."""
    return lambda kind, **options: TextTokenizer(locate(str(tiny_model(kind))), **options)


@pytest.fixture
def changed(tiny_model, tmp_path):
    """A function from a kind of model and new entries to a copy of it: `config`, `tokenizer_config`, `tokenizer`."""

    def change(kind, **entries):
        folder = tmp_path / "changed"
        shutil.copytree(tiny_model(kind), folder)
        for name, new in entries.items():
            path = folder / f"{name}.json"
            kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            kept = {key: value for key, value in {**kept, **new}.items() if value is not ...}
            path.write_text(json.dumps(kept), encoding="utf-8")
        return ModelFiles("changed", folder, "")

    return change


def test_pieces_by_hand(tiny):
    # the vocabulary begins [PAD] [UNK] [CLS] [SEP] [MASK] the a cat
    tokenizer = tiny("bert")
    found = tokenizer.tokens(["the cat", "a  THE", "cath"])
    assert found[0].ids.tolist() == [2, 5, 7, 3]
    assert found[1].ids.tolist() == [2, 6, 5, 3]
    assert found[2].ids.tolist()[:2] == [2, 7]
    assert [t.n_content for t in found] == [2, 2, 2]
    assert (tokenizer.prefix.tolist(), tokenizer.suffix.tolist()) == ([2], [3])
    assert tokenizer.weightless == {2, 3}


@pytest.mark.parametrize("white", "\x0b\x0c\x1c\x1f\x85")
def test_white_space_among_control_characters_parts_words(tiny, white):
    parted, blank = tiny("bert").tokens([f"the{white}cat", "the cat"])  # the library drops it: "thecat"
    assert parted.ids.tolist() == blank.ids.tolist()


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u3000\u2003\u00a0"])
@pytest.mark.parametrize("kind", ["bert", "roberta", "t5", "t5, bytes"])
def test_a_blank_text_is_its_frame_alone(tiny, kind, text):
    tokenizer = tiny(kind)
    (found,) = tokenizer.tokens([text])
    assert found.n_content == 0
    assert found.ids.tolist() == [*tokenizer.prefix, *tokenizer.suffix]


@pytest.mark.parametrize(
    "kind", ["bert", "roberta", "xlm-roberta", "distilbert", "deberta", "t5", "t5, bytes", "embedded"]
)
def test_pieces_are_those_of_transformers(tiny, tiny_model, kind):
    transformers = pytest.importorskip("transformers")
    files = locate("embedded" if kind == "embedded" else str(tiny_model(kind)))
    theirs = transformers.AutoTokenizer.from_pretrained(str(files.folder))
    ours = TextTokenizer(files)
    for text, found in zip(TEXTS, ours.tokens(TEXTS), strict=True):
        stripped = text.strip()  # as bert_score does
        space = " " if kind == "roberta" and stripped else ""
        expected = theirs(space + stripped, truncation=True, max_length=ours.max_tokens)["input_ids"]
        assert found.ids.tolist() == expected, text


def test_a_roberta_whose_configuration_names_no_special_tokens_still_weighs_them_nothing(changed):
    # tokenizer_config.json of the published roberta-large holds nothing but model_max_length
    files = changed("roberta", tokenizer_config={"cls_token": ..., "sep_token": ...})
    assert TextTokenizer(files).weightless == {0, 2}


def test_the_end_token_of_t5_is_no_separator_and_keeps_its_weight(tiny):
    # bert_score asks for cls_token_id and sep_token_id, which T5 does not have
    tokenizer = tiny("t5")
    assert tokenizer.weightless == frozenset()
    assert (tokenizer.prefix.tolist(), tokenizer.suffix.tolist()) == ([], [2])


@pytest.mark.parametrize("kind", ["bert", "roberta", "t5"])
def test_truncation_begins_one_piece_beyond_the_limit(tiny, kind):
    tokenizer = tiny(kind)
    room = LIMIT - len(tokenizer.prefix) - len(tokenizer.suffix)
    fits, over = tokenizer.tokens(["the " * room, "the " * (room + 1)])
    assert (fits.n_content, fits.truncated) == (room, False)
    assert (over.n_content, over.truncated) == (room, True)
    assert over.ids.tolist() == fits.ids.tolist()  # the end token is kept


def test_windows_cut_nothing(tiny):
    (found,) = tiny("bert").tokens(["the " * 200], "windows")
    assert (len(found.ids), found.n_content, found.truncated) == (202, 200, False)


def test_the_lowest_of_three_limits_holds(tiny, changed):
    assert tiny("bert").max_tokens == LIMIT
    assert tiny("bert", max_tokens=10).max_tokens == 10
    assert tiny("bert", max_tokens=10_000).max_tokens == LIMIT  # no position embeddings beyond
    assert TextTokenizer(changed("bert", tokenizer_config={"model_max_length": 20})).max_tokens == 20


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_tokenizer_without_a_limit_takes_the_models(changed, kind):
    # transformers writes 1e30 for "none", which overflows where it is taken for a number of pieces
    files = changed(kind, tokenizer_config={"model_max_length": int(1e30)})
    tokenizer = TextTokenizer(files)
    assert (
        tokenizer.max_tokens == LIMIT
    )  # RoBERTa: 50 positions, of which the padding index 1 and what is before it are no token's
    assert tokenizer.tokens(["the " * 100])[0].truncated
    (files.folder / "tokenizer_config.json").unlink()
    assert TextTokenizer(files).max_tokens == LIMIT


def test_a_model_with_relative_positions_has_no_limit_of_its_own(tiny):
    tokenizer = tiny("t5, bytes")
    assert tokenizer.max_tokens is None
    (found,) = tokenizer.tokens(["x" * 5000])
    assert (found.n_content, found.truncated) == (5000, False)


def test_a_limit_must_leave_room_for_a_piece(tiny):
    assert tiny("bert", max_tokens=3).tokens(["the cat"])[0].ids.tolist() == [2, 5, 3]
    with pytest.raises(InputError, match="max_tokens is 2, expected at least 3"):
        tiny("bert", max_tokens=2)


def test_what_tokenizer_json_says_of_padding_and_truncation_is_not_done(changed):
    kept = {
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 8},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
    }
    tokenizer = TextTokenizer(changed("bert", tokenizer=kept))
    short, long = tokenizer.tokens(["the", "the cat sat on the mat"])
    assert (len(short.ids), len(long.ids), long.truncated) == (3, 8, False)


def test_a_broken_tokenizer_is_told_in_one_line(changed):
    files = changed("bert", tokenizer={"model": {"type": "Nothing"}})
    with pytest.raises(InputError, match=r"tokenizer\.json is not a tokenizer that can be read") as refused:
        TextTokenizer(files)
    assert "\n" not in str(refused.value)


def test_a_tokenizer_that_fails_at_a_text_is_told_in_one_line(changed):
    # the vocabulary lacks the piece that stands for unknown words
    model = {"type": "WordLevel", "vocab": {"[CLS]": 0, "[SEP]": 1, "a": 2}, "unk_token": "[UNK]"}
    files = changed("bert", tokenizer={"model": model})
    with pytest.raises(InputError, match="its tokenizer cannot cut a text") as refused:
        TextTokenizer(files).tokens(["the cat"])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "t5"])
def test_a_folder_without_a_tokenizer_is_refused(changed, kind):
    # transformers makes up a tokenizer to which every word is unknown, so that all texts of one length would be alike
    files = changed(kind)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (files.folder / name).unlink()
    with pytest.raises(InputError, match=r"no vocabulary in .*; expected tokenizer\.json"):
        TextTokenizer(files)


def test_a_tokenizer_that_transformers_cannot_load_is_told_in_one_line(changed):
    files = changed("distilbert", tokenizer={"model": {"type": "Nothing"}})
    with pytest.raises(InputError, match=r"the tokenizer in .* cannot be loaded") as refused:
        TextTokenizer(files)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["roberta", "t5, bytes"])
def test_a_lone_surrogate_is_the_replacement_character(tiny, kind):
    tokenizer = tiny(kind)
    lone, replaced, question = (
        t.ids.tolist() for t in tokenizer.tokens(["the \ud83d cat", "the \ufffd cat", "the ? cat"])
    )
    assert lone == replaced != question


def test_two_halves_of_an_emoji_are_the_emoji(tiny):
    halves, emoji = (t.ids.tolist() for t in tiny("roberta").tokens(["\ud83d\ude42", "\U0001f642"]))
    assert halves == emoji


@given(texts=st.lists(st.text(alphabet="the catx!\ud800雨", max_size=8), max_size=9))
def test_a_text_has_the_same_pieces_in_any_company(tiny, texts):
    tokenizer = tiny("bert")
    assert [t.ids.tolist() for t in tokenizer.tokens(texts)] == [
        tokenizer.tokens([text])[0].ids.tolist() for text in texts
    ]


@given(text=st.text(alphabet=st.characters(max_codepoint=127), max_size=40) | st.sampled_from(TEXTS))
@pytest.mark.parametrize("lowercase", [True, False])
def test_pieces_of_ascii_texts_are_those_of_the_library(tiny_model, lowercase, text):
    tokenizer = TextTokenizer(locate(str(tiny_model("bert"))))
    backend = tokenizer._backend
    backend.normalizer.lowercase = tokenizer._ascii._lowercase = lowercase
    text = " ".join(text.split())  # the library drops some of white space
    assert tokenizer.tokens([text, "the cat"], "windows")[0].ids.tolist() == backend.encode(text).ids


def test_the_library_cuts_each_word_of_ascii_texts_once(tiny, monkeypatch):
    tokenizer = tiny("bert")
    tokenizer.tokens(["the cat, the cath"])
    monkeypatch.setattr(tokenizer._ascii, "_model", None)
    again = tokenizer.tokens(["Cath the, cat"])[0].ids.tolist()
    assert again == tokenizer._backend.encode("Cath the, cat").ids


def test_remembered_words_are_forgotten_when_they_are_too_many(tiny, monkeypatch):
    tokenizer = tiny("bert")
    monkeypatch.setattr(module, "_KEPT_WORDS", 2)
    texts = ["the cat", "a cat", "the mat"]
    assert [t.ids.tolist() for t in tokenizer.tokens(texts)] == [t.ids.tolist() for t in tiny("bert").tokens(texts)]
    assert len(tokenizer._ascii) <= 2


def test_a_piece_that_was_added_as_a_word_is_found_in_any_text(changed, tiny_model):
    kept = json.loads((tiny_model("bert") / "tokenizer.json").read_text(encoding="utf-8"))["added_tokens"]
    cat = {**kept[0], "id": 7, "content": "cat", "special": False}
    tokenizer = TextTokenizer(changed("bert", tokenizer={"added_tokens": [*kept, cat]}))
    ids = tokenizer.tokens(["cath"])[0].ids.tolist()
    assert ids == tokenizer._backend.encode("cath").ids
    assert ids[1] == 7


def test_a_long_list_is_read_in_chunks(tiny, monkeypatch):
    tokenizer = tiny("bert")
    whole = [t.ids.tolist() for t in tokenizer.tokens(TEXTS)]
    monkeypatch.setattr(module, "_CHUNK", 3)
    assert [t.ids.tolist() for t in tokenizer.tokens(TEXTS)] == whole


def test_words_by_hand(tiny):
    labels, numbers = tiny("bert").words("The catx, sat")
    assert labels == ["The", "catx", ",", "sat"]
    assert numbers == [None, 0, 1, 1, 2, 3, None]


def test_words_of_pieces_that_are_parted_at_blanks_alone_end_at_marks_and_in_han_with_each_piece(tiny):
    # Pieces: ▁the ▁ c a t x , ▁ 今 天 雨 ! - the mark of a blank is of the word behind it, and Latin words stay whole.
    labels, numbers = tiny("xlm-roberta").words("the catx, 今天雨!")
    assert labels == ["the", "catx", ",", "今", "天", "雨", "!"]
    assert [number for number in numbers if number is not None] == [0, *[1] * (len(numbers) - 9), 2, 3, 3, 4, 5, 6]


def test_a_character_of_several_pieces_stands_once_in_its_word(tiny):
    assert tiny("roberta").words("thé 雨")[0] == ["thé", "雨"]  # é is two pieces of a byte each, 雨 three


@given(text=st.text(max_size=20))
@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
def test_every_piece_belongs_to_one_word_or_is_special(tiny, kind, text):
    tokenizer = tiny(kind)
    labels, numbers = tokenizer.words(text)
    assert len(numbers) == len(tokenizer.tokens([text], "windows")[0].ids)
    inner = [n for n in numbers if n is not None]
    assert inner == sorted(inner)
    assert sorted(set(inner)) == list(range(len(labels)))
    assert all(labels)


def test_a_tokenizer_without_offsets_cannot_tell_words(tiny):
    with pytest.raises(InputError, match="does not say which piece is of which word, as align and discoscore need"):
        tiny("t5, bytes").words("the cat")


def test_a_piece_past_the_vocabulary_of_the_model_is_told_in_one_line(tiny, changed):
    cat = int(tiny("bert").tokens(["cat"])[0].ids.max())
    tokenizer = TextTokenizer(changed("bert", config={"vocab_size": cat}))
    assert tokenizer.tokens(["the"])[0].n_content == 1  # a text without such a piece is read as before
    says = rf"gives a piece the id {cat}, but vocab_size in config\.json is {cat}; where pieces were added"
    with pytest.raises(InputError, match=says) as told:
        tokenizer.tokens(["the", "the cat"])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("limit", ["ten", [], {}])
def test_a_configuration_of_the_tokenizer_that_makes_no_sense_is_told_in_one_line(changed, limit):
    files = changed("bert", tokenizer_config={"model_max_length": limit})
    with pytest.raises(InputError, match=r"cannot be loaded from .*: TypeError: .*; are config\.json and") as told:
        TextTokenizer(files)
    assert "\n" not in str(told.value)


def test_pieces_have_names_and_a_test_of_them_is_made_once(tiny_model):
    tokenizer = TextTokenizer(locate(str(tiny_model("bert"))))
    (tokens,) = tokenizer.tokens(["the cat."])
    assert tokenizer.names(tokens.ids) == ["[CLS]", "the", "cat", ".", "[SEP]"]
    asked = []

    def is_stop(names):
        asked.append(len(names))
        return np.array([name == "." for name in names])

    for _ in range(2):
        assert tokenizer.which(is_stop)[tokens.ids].tolist() == [False, False, False, True, False]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("kind", "family"), [("mpnet", "mpnet"), ("xlm-roberta", "camembert"), ("roberta", "longformer"), ("gpt2", "gpt2")]
)
def test_every_family_knows_its_own_limit(changed, kind, family):
    # 50 positions counted from the padding index on, or n_positions; torch would fail on the next one
    files = changed(kind, config={"model_type": family}, tokenizer_config={"model_max_length": ...})
    assert TextTokenizer(files).max_tokens == LIMIT
