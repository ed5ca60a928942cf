import json
import math
import shutil

import numpy as np
import pytest
from tests.models.conftest import changed

from nlgauge.core.errors import InputError
from nlgauge.models.generation import (
    Backtranslator,
    CausalRows,
    Generator,
    Seq2Seq,
    locate_generator,
    n_pieces,
    paired_rows,
    positions,
    start_piece,
    worst_of,
)
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


TEXTS = [
    "the cat sat on the mat", "rain fell today", "not good", "", " \t", "the cat sat on the mat", "snow \ud800 fell",
    "今天雨",
]  # fmt: skip
HALF = {"layers": 1, "attention_heads": 2, "ffn_dim": 16}
BART = {"d_model": 16, "max_position_embeddings": 48} | {
    f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in HALF.items()
}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_heads": 2, "num_layers": 1, "num_decoder_layers": 1}
SHAPES = {"bart": BART, "t5": T5, "marian": BART}
ENDS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": 2}


@pytest.fixture(scope="module")
def pair(tiny_model, tmp_path_factory):
    """A function from a kind and a seed to a folder with a tiny encoder-decoder: random weights, which babble."""
    made = {}

    def make(kind, seed=0):
        if (kind, seed) not in made:
            folder = tmp_path_factory.mktemp("pair") / f"{kind}-{seed}"
            source = tiny_model("t5" if kind == "t5" else "mbart")
            shutil.copytree(source, folder, ignore=shutil.ignore_patterns("config.json", "*.safetensors"))
            words = len(transformers.AutoTokenizer.from_pretrained(source))
            config = transformers.AutoConfig.for_model(kind, vocab_size=words, **SHAPES[kind], **ENDS)
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                model = transformers.AutoModelForSeq2SeqLM.from_config(config)
                for parameter in model.parameters():
                    parameter.data += torch.randn_like(parameter) * 0.2
                model.get_input_embeddings().weight.data[:5] = (
                    0  # special tokens, the end among them, score 0; some word scores more
                )
            model.save_pretrained(folder)
            made[kind, seed] = folder
        return made[kind, seed]

    return make


def both_ways(pair, kind, **options):
    return Backtranslator(str(pair(kind)), str(pair(kind, 1)), max_tokens=12, beams=2, **options)


@pytest.mark.parametrize("kind", ["bart", "t5", "marian"])
def test_every_text_has_a_paraphrase_or_none(pair, kind):
    made = both_ways(pair, kind).paraphrase(TEXTS)
    assert len(made) == len(TEXTS)
    assert [made[3], made[4]] == [None, None]
    assert made[0] == made[5]
    assert any(m is not None for m in made)
    assert all(m is None or (m.strip() and m.split() != t.split()) for m, t in zip(made, TEXTS, strict=True))


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_a_texts_paraphrase_does_not_depend_on_its_company(pair, kind):
    model = both_ways(pair, kind)
    together, alone = model.paraphrase(TEXTS[:3]), [model.paraphrase([t])[0] for t in TEXTS[:3]]
    narrow = both_ways(pair, kind, runtime=Runtime(token_budget=1)).paraphrase(TEXTS[:3])
    assert together == alone == narrow


def test_the_way_back_is_made_by_the_second_model(pair):
    # What comes back is what the second model makes of what the first one wrote.
    def load(seed):
        from nlgauge.models.locate import locate

        return Seq2Seq(locate(str(pair("bart", seed))), "float32", "cpu")

    pivot = load(0).rewrite(TEXTS[:2], (None, None), 2, 12, Runtime())
    back = load(1).rewrite(pivot, (None, None), 2, 12, Runtime())
    assert both_ways(pair, "bart").paraphrase(TEXTS[:2]) == back
    assert pivot != back


def test_a_text_longer_than_the_model_reads_has_none(pair):
    assert both_ways(pair, "bart").paraphrase(["cat " * 100, "the cat"])[0] is None


def test_models_are_shared(pair):
    translator = both_ways(pair, "bart", runtime=Runtime())
    assert translator._model(translator.forward) is translator._model(translator.forward)


def test_models_that_are_no_pair_are_refused(pair, tiny_model, tmp_path):
    with pytest.raises(InputError, match="no encoder-decoder"):
        Backtranslator(str(tiny_model("bert")), str(tiny_model("bert"))).paraphrase(["a cat"])
    with pytest.raises(InputError, match="marks no languages"):
        both_ways(pair, "bart", languages=("en", "de")).paraphrase(["a cat"])
    headless = changed(pair("t5"), tmp_path / "headless", keep=lambda key: "SelfAttention.q" not in key)
    with pytest.raises(InputError, match=r"the weights hold no \S+SelfAttention\.q\.weight"):
        Backtranslator(str(headless), str(headless)).paraphrase(["a cat"])


def test_a_model_of_many_languages_is_told_which(pair, tmp_path):
    folder = tmp_path / "many"
    shutil.copytree(pair("bart"), folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert not hasattr(tokenizer, "src_lang")
    model = _many(folder)
    assert model.speak("c", "a") == {"forced_bos_token_id": tokenizer.get_vocab()["a"]}
    assert model.tokenizer.src_lang == "c"
    assert model.speak(None, None) == {}
    with pytest.raises(InputError, match="knows no language 'xx_YY'"):
        model.speak("c", "xx_YY")
    assert settings["tokenizer_class"] == "PreTrainedTokenizerFast"


def _many(folder):
    from nlgauge.models.locate import locate

    model = Seq2Seq(locate(str(folder)), "float32", "cpu")
    model.tokenizer.src_lang = None  # as the tokenizers of such models have it
    return model


def test_sentencepiece_files_pin_a_model_too(pair, tmp_path):
    from nlgauge.models.locate import locate
    from nlgauge.models.repository import needed

    folder = tmp_path / "marian"
    shutil.copytree(pair("marian"), folder)
    before = locate(str(folder)).setup
    (folder / "source.spm").write_bytes(b"pieces")
    assert locate(str(folder)).setup != before
    files = ["config.json", "source.spm", "pytorch_model.bin"]
    assert needed(files) == files  # and are fetched from the hub


# --- Which models write text, and what their configurations say of them


@pytest.mark.parametrize(("kind", "paired"), [("bart", True), ("t5", True), ("gpt2", False), ("llama", False)])
def test_encoder_decoders_and_causal_models_are_told_apart(tiny_denoiser, tiny_causal, kind, paired):
    folder = (tiny_denoiser if paired else tiny_causal)(kind)
    assert locate_generator(str(folder)).is_paired is paired


def test_an_encoder_writes_no_text(tiny_masked):
    with pytest.raises(InputError, match=r"is BertForMaskedLM, expected a model that writes text: an encoder-decoder"):
        locate_generator(str(tiny_masked("bert")))


def test_the_embedded_encoder_writes_no_text_and_is_not_offered():
    with pytest.raises(InputError, match="'embedded' is BertModel, expected a model that writes text"):
        locate_generator("embedded")
    with pytest.raises(InputError) as refused:
        locate_generator("no/such-model")
    assert "model=embedded" not in str(refused.value)


def test_the_worst_value_is_twice_a_guess_among_all_pieces(tiny_causal, tmp_path):
    larger = changed(tiny_causal("gpt2"), tmp_path / "a", {"vocab_size": 100})
    assert worst_of(n_pieces(locate_generator(str(larger)))) == -2 * math.log(100)
    nested = changed(tiny_causal("gpt2"), tmp_path / "b", {"vocab_size": None, "text_config": {"vocab_size": 7}})
    with pytest.raises(InputError, match="vocab_size is None"):
        n_pieces(locate_generator(str(nested)))


def test_a_text_starts_with_the_begin_token_or_else_with_the_end_token(tiny_causal, tmp_path):
    folder = tiny_causal("gpt2")
    assert start_piece(locate_generator(str(folder))) == 0
    for name, end, start in (("a", [5, 6], 5), ("b", None, None)):
        other = changed(folder, tmp_path / name, {"bos_token_id": None, "eos_token_id": end})
        assert start_piece(locate_generator(str(other))) == start


def test_positions_are_read_as_gpt2_writes_them(tiny_causal, tiny_denoiser):
    assert positions(locate_generator(str(tiny_causal("gpt2")))) == 48
    assert positions(locate_generator(str(tiny_denoiser("t5")))) is None


# --- What a model is given and what it is asked to write, piece by piece


def named(reader, ids):
    return reader.names(ids)


def paired(folder, **options):
    return TextTokenizer(locate(str(folder)), space=False, **options)


def causal(folder, max_tokens=None):
    return CausalRows(locate_generator(str(folder)), max_tokens)


def test_an_encoder_decoder_reads_and_writes_texts_in_their_frame(tiny_denoiser):
    reader = paired(tiny_denoiser("mbart"))
    (row,) = paired_rows([(" the cat ", "rain fell")], reader, reader)
    assert named(reader, row.given) == ["<s>", "▁the", "▁cat", "</s>"]
    assert named(reader, row.text) == ["<s>", "▁rain", "▁fell", "</s>"]
    assert (row.own, row.truncated, row.unknown, row.blank) == (slice(1, 4), False, 0, False)


def test_t5_puts_nothing_before_a_text(tiny_denoiser):
    reader = paired(tiny_denoiser("t5"))
    (row,) = paired_rows([("the cat", "rain fell")], reader, reader)
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
    short, long = paired_rows([("the cat sat", "rain"), ("rain", "the cat sat on the mat")], both, both)
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
    assert [row.blank for row in paired_rows(pairs, reader, reader)] == [True, True, False]
    assert [row.blank for row in causal(tiny_causal("gpt2")).rows([*pairs, (None, "a")])] == [True, True, False, False]


def test_the_higher_share_of_unknown_pieces_counts(tiny_denoiser, tiny_causal):
    pairs = [("the Ω", "cat"), ("cat", "Ω"), ("cat", "cat")]
    reader = paired(tiny_denoiser("mbart"))
    assert [row.unknown for row in paired_rows(pairs, reader, reader)] == [0.5, 1, 0]
    assert [row.unknown > 0 for row in causal(tiny_causal("llama")).rows(pairs)][1:] == [True, True]  # the break


def test_a_model_without_a_piece_to_start_with_is_refused(tiny_causal, tmp_path):
    folder = changed(tiny_causal("gpt2"), tmp_path / "bare", {"bos_token_id": None, "eos_token_id": None})
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
    (row,) = paired_rows([("the cat", "rain fell")], english, german)
    assert sorted(named(german, row.given)) == sorted(["en_XX", "▁the", "▁cat", "</s>"])
    assert (named(german, row.text), named(german, row.text[row.own])) == (text, own)
    with pytest.raises(InputError, match="knows no language 'xx'; see its card for the codes"):
        paired(folder, language="xx")


def test_a_language_is_refused_where_the_model_marks_none(tiny_denoiser):
    with pytest.raises(InputError, match="marks no languages; leave language out"):
        paired(tiny_denoiser("bart"), language="de")


# --- How likely texts are: company, prompts, starts, and what is asked only once

PAIRS = [
    ("the cat sat on the mat", "a cat lay on the rug"),
    ("rain fell", "heavy rain fell today"),
    ("", "rain"),
    ("rain fell", "heavy rain fell today"),
    ("rain fell today", "the cat " * 60),
]


def generator(folder, runtime=None, **told):
    return Generator(locate_generator(str(folder)), runtime or Runtime(device="cpu"), **told)


@pytest.mark.parametrize("kind", ["bart", "t5", "gpt2"])
def test_a_likelihood_depends_on_its_pair_alone(tiny_denoiser, tiny_causal, kind):
    folder = tiny_causal(kind) if kind == "gpt2" else tiny_denoiser(kind)
    whole = generator(folder).likelihoods(PAIRS)
    assert whole.sums[1] == whole.sums[3]
    assert (whole.sums[2], whole.blank.tolist()) == (0, [False, False, True, False, False])
    assert whole.truncated.tolist() == [False] * 4 + [True]
    for budget in (1, 40):
        model = generator(folder, Runtime(device="cpu", token_budget=budget))
        alone = [model.likelihoods([pair]) for pair in PAIRS]
        for name in ("sums", "counts", "unknown"):
            expected = np.concatenate([getattr(one, name) for one in alone])
            assert getattr(whole, name) == pytest.approx(expected, rel=1e-6)  # float32


def test_texts_are_asked_once_and_counted(tiny_causal):
    done = []
    model = generator(tiny_causal("gpt2"))
    model.likelihoods(PAIRS, done.append)
    assert sum(done) == 4  # different pairs, the blank one too
    empty = model.likelihoods([])
    assert empty.sums.shape == empty.blank.shape == (0,)


def test_a_template_is_put_around_what_is_given(tiny_denoiser, tiny_causal):
    for folder in (tiny_denoiser("bart"), tiny_causal("gpt2")):
        told = generator(folder, template="not {} today").likelihoods([(" a cat ", "rain"), ("", "rain")])
        written = generator(folder).likelihoods([("not a cat today", "rain"), ("", "rain")])
        assert told.sums.tolist() == written.sums.tolist()
        assert told.blank.tolist() == [False, True]


def test_pieces_around_the_text_may_not_count(tiny_denoiser):
    folder = tiny_denoiser("bart")
    every = generator(folder).likelihoods(PAIRS[:1])
    own = generator(folder, counts_frame=False).likelihoods(PAIRS[:1])
    assert own.counts == every.counts - 1
    assert own.sums > every.sums  # without <s>, whose log-probability is below 0


def test_a_runtime_holds_one_copy(tiny_causal):
    runtime = Runtime(device="cpu")
    assert generator(tiny_causal("gpt2"), runtime)._network() is generator(tiny_causal("gpt2"), runtime)._network()
