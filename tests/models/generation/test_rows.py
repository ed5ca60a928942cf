"""What a model is given and what it is asked to write, piece by piece."""

import json
import shutil

import pytest

from nlgauge.core.errors import InputError
from nlgauge.models.generation.files import locate_generator
from nlgauge.models.generation.rows import CausalRows, PairedRows

pytest.importorskip("torch")


def named(reader, ids):
    return reader.names(ids)


def paired(folder, **options):
    return PairedRows(locate_generator(str(folder)), options.get("max_tokens"), options.get("language"))


def causal(folder, max_tokens=None):
    return CausalRows(locate_generator(str(folder)), max_tokens)


def test_an_encoder_decoder_reads_and_writes_texts_in_their_frame(tiny_denoiser):
    reader = paired(tiny_denoiser("mbart"))
    (row,) = reader.rows([(" the cat ", "rain fell")], reader)
    assert named(reader, row.given) == ["<s>", "▁the", "▁cat", "</s>"]
    assert named(reader, row.text) == ["<s>", "▁rain", "▁fell", "</s>"]
    assert (row.own, row.truncated, row.unknown, row.blank) == (slice(1, 4), False, 0, False)


def test_t5_puts_nothing_before_a_text(tiny_denoiser):
    reader = paired(tiny_denoiser("t5"))
    (row,) = reader.rows([("the cat", "rain fell")], reader)
    assert named(reader, row.text) == ["▁rain", "▁fell", "</s>"]
    assert row.own == slice(0, 3)


def test_a_causal_model_starts_with_a_piece_of_its_own_and_reads_what_is_given_before_a_line_break(tiny_causal):
    reader = causal(tiny_causal("gpt2"))
    alone, behind = reader.rows([(None, "the cat"), ("a cat", "the cat")])
    assert named(reader, alone.given) == ["<s>"]  # bos_token_id, since the tokenizer puts nothing before a text
    assert named(reader, alone.text) == ["t", "he", "Ġcat"]
    assert named(reader, behind.given) == ["<s>", "a", "Ġcat", "Ċ"]
    assert named(reader, behind.text) == ["t", "he", "Ġcat"]


def test_a_tokenizer_that_frames_texts_names_the_start_itself_and_its_end_is_not_asked_for(tiny_causal):
    reader = causal(tiny_causal("llama"))
    (row,) = reader.rows([(None, "the cat")])
    assert (named(reader, row.given), named(reader, row.text)) == (["<s>"], ["▁the", "▁cat"])


def test_long_texts_are_cut_and_say_so(tiny_causal, tiny_denoiser):
    both = paired(tiny_denoiser("mbart"), max_tokens=5)
    short, long = both.rows([("the cat sat", "rain"), ("rain", "the cat sat on the mat")], both)
    assert (short.truncated, long.truncated) == (False, True)
    assert named(both, long.text) == ["<s>", "▁the", "▁cat", "▁sat", "</s>"]


@pytest.mark.parametrize(
    ("given", "text", "first", "second"),
    [
        ("aaaaaaaa", "bb", "<s>aaaaĊ", "bb"),  # room for 7 pieces beside <s>: two for the text, and the break stays
        ("aaaaaaaa", "bbbbbbbb", "<s>aaĊ", "bbbb"),  # the text keeps the larger half
        ("a", "bbbbbbbb", "<s>aĊ", "bbbbb"),
        (None, "bbbbbbbb", "<s>", "bbbbbbb"),
        ("aaa", "bbb", "<s>aaaĊ", "bbb"),
    ],
)
def test_of_two_long_texts_a_causal_model_reads_the_beginnings(tiny_causal, given, text, first, second):
    reader = causal(tiny_causal("gpt2"), 8)
    (row,) = reader.rows([(given, text)])
    assert ("".join(named(reader, row.given)), "".join(named(reader, row.text))) == (first, second)
    assert row.truncated is (len(row.given) + len(row.text) < 1 + len(text) + (len(given) + 1 if given else 0))


def test_a_text_without_a_piece_is_blank_and_so_is_a_given_one(tiny_causal, tiny_denoiser):
    pairs = [("", "a cat"), ("a cat", " \u200b"), ("a", "a")]
    reader = paired(tiny_denoiser("bart"))
    assert [row.blank for row in reader.rows(pairs, reader)] == [True, True, False]
    assert [row.blank for row in causal(tiny_causal("gpt2")).rows([*pairs, (None, "a")])] == [True, True, False, False]


def test_the_higher_share_of_unknown_pieces_counts(tiny_denoiser, tiny_causal):
    pairs = [("the Ω", "cat"), ("cat", "Ω"), ("cat", "cat")]
    reader = paired(tiny_denoiser("mbart"))
    assert [row.unknown for row in reader.rows(pairs, reader)] == [0.5, 1, 0]
    assert [row.unknown > 0 for row in causal(tiny_causal("llama")).rows(pairs)][1:] == [True, True]  # the break


def test_a_model_without_a_piece_to_start_with_is_refused(tiny_causal, tmp_path):
    folder = tmp_path / "bare"
    shutil.copytree(tiny_causal("gpt2"), folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"bos_token_id": None, "eos_token_id": None}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match="has no piece to start a text with"):
        causal(folder)


@pytest.mark.parametrize(
    ("tokenizer", "text", "own"),
    [
        ("MBart50Tokenizer", ["de_DE", "▁rain", "▁fell", "</s>"], ["▁rain", "▁fell", "</s>"]),
        ("MBartTokenizer", ["▁rain", "▁fell", "</s>", "de_DE"], ["▁rain", "▁fell", "</s>"]),
    ],
)
def test_the_tag_of_a_language_is_in_the_frame(tiny_denoiser, tmp_path, tokenizer, text, own):
    folder = tmp_path / "mbart"
    shutil.copytree(tiny_denoiser("mbart"), folder)
    ends = {"bos_token": "<s>", "eos_token": "</s>", "src_lang": "en_XX"}
    changes = {"config.json": {"vocab_size": 200}, "tokenizer_config.json": {"tokenizer_class": tokenizer, **ends}}
    changes["tokenizer_config.json"]["additional_special_tokens"] = ["en_XX", "de_DE"]
    for name, change in changes.items():
        told = {**json.loads((folder / name).read_text(encoding="utf-8")), **change}
        (folder / name).write_text(json.dumps(told), encoding="utf-8")
    english, german = paired(folder, language="en_XX"), paired(folder, language="de_DE")
    (row,) = german.rows([("the cat", "rain fell")], english)
    assert sorted(named(german, row.given)) == sorted(["en_XX", "▁the", "▁cat", "</s>"])
    assert (named(german, row.text), named(german, row.text[row.own])) == (text, own)
    with pytest.raises(InputError, match="knows no language 'xx'; see its card for the codes"):
        paired(folder, language="xx")


def test_a_language_is_refused_where_the_model_marks_none(tiny_denoiser):
    with pytest.raises(InputError, match="marks no languages; leave language out"):
        paired(tiny_denoiser("bart"), language="de")
