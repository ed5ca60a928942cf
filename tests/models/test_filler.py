"""Where gaps are, what can stand there, and with which capitals."""

import gzip
import json
import os
import random
import re
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from tests.models.conftest import changed

from nlgauge.core.errors import InputError
from nlgauge.models.filler import (
    Cloze,
    MaskedModel,
    Spelling,
    leads,
    load_infill,
    masked_model,
    pseudo_likelihoods,
    stands,
)
from nlgauge.models.heads import find_head
from nlgauge.models.infill import Gap, Infill, PieceTokenizer, locate_infill
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("before", "old", "after", "place", "sentence"),
    [
        ("", "The", " cat", "first", True),
        (" ", "The", " cat", "first", True),
        ("A ", "cat", " sat.", "word", False),
        ("It rained. ", "We", " slept.", "word", True),
        ('It rained." ', "We", " slept.", "word", True),
        ("Rain\n", "Snow", "", "word", True),
        ('He said "', "Go", '"', "inside", False),
        ('"', "Go", '", he said', "inside", True),
        ("(", "maybe", ")", "inside", True),
        ("A cat", ".", "", "behind", False),
        ("They did", "n't", " come", "behind", False),
        ("A cat", "", " sat", "word", False),  # put in between: a word of its own, on whichever side of the blank
        ("A cat ", "", "sat", "word", False),
        ("A cat", "", "", "word", False),
        ("A cat.", "", " It sat", "word", True),
        ("", "", "A cat", "first", True),
    ],
)
def test_where_a_gap_is(before, old, after, place, sentence):
    assert stands(Gap(before + old + after, len(before), len(before) + len(old))) == (place, sentence)


def words(spelling, place):
    return {spelling.bare[i] for i in np.flatnonzero(spelling.fit[place])}


def test_of_wordpiece_all_but_continuations_fit_everywhere(tiny_model):
    spelling = Spelling.of(PieceTokenizer(locate(str(tiny_model("bert")))))
    for place in ("first", "word", "inside", "behind"):
        assert {"cat", "the", ",", "今"} <= words(spelling, place)
        assert not {"", "[MASK]", "##a"} & words(spelling, place)


def test_with_marked_blanks_the_place_says_which_pieces_fit(tiny_model):
    roberta = Spelling.of(PieceTokenizer(locate(str(tiny_model("roberta")))))
    assert {"cat", "the", "t", ","} <= words(roberta, "word")  # Ġcat, Ġthe, Ġt and the signs
    assert "h" not in words(roberta, "word")  # goes on a word
    assert {"h", "cat"} <= words(roberta, "inside") & words(
        roberta, "first"
    )  # after a bracket or at the start there is no blank
    assert "," in words(roberta, "behind")
    assert "cat" not in words(roberta, "behind")
    xlm = Spelling.of(PieceTokenizer(locate(str(tiny_model("xlm-roberta")))))
    assert words(xlm, "first") == words(xlm, "word") >= {"cat", "."}  # its texts begin with a marked piece


def of(bare, capital=None, uncased=True):
    fit = dict.fromkeys(("first", "word", "inside", "behind"), np.ones(len(bare), dtype=bool))
    return Spelling(bare, fit, uncased, None if capital is None else np.array(capital, dtype=bool))


def test_the_best_come_first_each_word_once():
    spelling = of(["cat", "dog", "cat", "rug"])  # the first and the third are cat with and without a blank before it
    said = torch.tensor([-1.0, -3.0, -2.0, -4.0])
    assert spelling.best(said, stands(Gap("a cat", 2, 5))[0], 3)[0] == [(0, -1.0), (1, -3.0), (3, -4.0)]
    assert spelling.best(said, stands(Gap("a cat", 2, 5))[0], 1)[0] == [(0, -1.0)]


@pytest.mark.parametrize(("k", "least"), [(1, 3.0), (2, 2.0), (3, 2.0), (4, 1.0)])
def test_the_closest_call_is_told(k, least):
    spelling = of(["cat", "dog", "rug", "mat", "sun"])
    # 3, 2, 9 and 1 apart; the last word asked for is held against the next
    said = torch.tensor([-1.0, -4.0, -6.0, -16.0, -15.0])
    assert spelling.best(said, stands(Gap("a cat", 2, 5))[0], k)[1] == least


@pytest.mark.parametrize(
    ("word", "text", "old", "written"),
    [
        ("town", "London is big.", "London", "Town"),  # a sentence begins
        ("town", "He saw London.", "London", "town"),  # which words are names is known, and this is none
        ("paris", "He saw a town.", "town", "Paris"),
        ("eu", "He saw the town.", "town", "EU"),
        ("town", "HE SAW LONDON", "LONDON", "TOWN"),
        ("town", "it rained", "it", "town"),
        ("town", "Yes! Cats came", "Cats", "Town"),
    ],
)
def test_a_model_without_capitals_gets_them(word, text, old, written):
    bare = ["town", "paris", "eu"]
    spelling = of(bare, [[False, True, True], [False, False, True]])
    gap = Gap(text, text.index(old), text.index(old) + len(old))
    assert spelling.written(bare.index(word), gap, stands(gap)[1]) == written


def test_where_names_are_not_known_the_word_before_tells():
    gap = Gap("He saw London.", 7, 13)
    assert of(["paris"]).written(0, gap, stands(gap)[1]) == "Paris"
    assert of(["paris"], uncased=False).written(0, gap, stands(gap)[1]) == "paris"  # this model writes capitals itself
    between = Gap("He saw London.", 6, 6)
    assert of(["great"]).written(0, between, stands(between)[1]) == "great"
    start = Gap("Boats sailed.", 0, 0)
    assert of(["great"]).written(0, start, stands(start)[1]) == "Great"


# --- Gaps filled by masked language models of random weights
#
# What transformers says of the same mask, whatever shares the batch.

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "<pad>", "</s>", "<unk>", "<mask>")
TEXT = "the cat sat on the mat, not on a rug."
TEXTS = (TEXT, "a good dog lay on the mat", "heavy rain fell today", "Rain fell, snow fell.")


def gap(text, word):
    start = text.index(word)
    return Gap(text, start, start + len(word))


def gaps_of(texts=TEXTS):
    return [gap(text, word) for text in texts for word in dict.fromkeys(text.replace(",", "").replace(".", "").split())]


def theirs(folder, masked):
    """Log-probabilities at the mask by transformers' own model, shape (V,), and the pieces."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()
    given = tokenizer(masked.replace("_", tokenizer.mask_token), return_tensors="pt", return_token_type_ids=True)
    if "token_type_ids" in given and not hasattr(model.config, "type_vocab_size"):
        del given["token_type_ids"]
    place = given["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        logits = model(**given).logits[0, place]
    return torch.log_softmax(logits, dim=0), tokenizer.convert_ids_to_tokens(range(len(logits)))


@pytest.mark.parametrize(
    "kind", ["bert", "roberta", "xlm-roberta", "distilbert", "electra", "albert", "mpnet", "deberta-v2"]
)
def test_the_best_words_are_those_of_transformers_own_model(tiny_masked, kind):
    folder = tiny_masked(kind)
    model = load_infill(str(folder))
    sign = {"roberta": "Ġ", "xlm-roberta": "▁", "deberta-v2": "▁"}.get(kind)
    # The mask token of families that mark blanks takes the blank before it; the tiny ones' does not.
    said, pieces = theirs(folder, f"the cat{'' if sign else ' '}_ on the mat, not on a rug.")
    (found,) = model.fill([gap(TEXT, "sat")], 5)
    scores = {}
    for piece, score in zip(pieces, said.tolist(), strict=True):
        word = piece.removeprefix(sign) if sign else piece
        whole = piece.startswith(sign) if sign else not piece.startswith("##")
        if word and piece not in SPECIAL and (whole or (not any(c.isalnum() for c in word) and word.isprintable())):
            scores[word] = max(score, scores.get(word, -np.inf))
    if kind == "roberta":  # its single bytes are no text of their own
        scores = {word: score for word, score in scores.items() if word.isascii()}
        found = [filler for filler in model.fill([gap(TEXT, "sat")], 40)[0] if filler.word.isascii()][:5]
    expected = sorted(scores.items(), key=lambda pair: -pair[1])[:5]
    assert [filler.word for filler in found] == [word for word, _ in expected]
    assert [filler.score for filler in found] == pytest.approx(
        [score for _, score in expected], abs=1e-4
    )  # float32, other order of sums


@pytest.mark.parametrize(
    ("kind", "budget"),
    [
        ("bert", 1),
        *((kind, None) for kind in ("bert", "roberta", "distilbert")),
        *(pytest.param(kind, 1, marks=pytest.mark.slow) for kind in ("roberta", "distilbert")),
        *(pytest.param(kind, 40, marks=pytest.mark.slow) for kind in ("bert", "roberta", "distilbert")),
    ],
)
def test_what_shares_the_batch_changes_nothing(tiny_masked, kind, budget):
    folder = str(tiny_masked(kind))
    gaps = gaps_of()
    together = load_infill(folder, runtime=Runtime(token_budget=budget)).fill([*gaps, *reversed(gaps)], 4)
    model = load_infill(folder)
    alone = [model.fill([g], 4)[0] for g in gaps]
    assert together[: len(gaps)] == together[len(gaps) :][::-1]
    assert [[f.word for f in row] for row in together[: len(gaps)]] == [[f.word for f in row] for row in alone]
    scores = [[f.score for f in row] for rows in (together[: len(gaps)], alone) for row in rows]
    assert np.allclose(
        scores[: len(gaps)], scores[len(gaps) :], atol=1e-5
    )  # matrix products of another size may round another way


class Noisy:
    """Finds all pieces `apart` from each other, but for noise of 1e-5 that hangs on the batch and on the cores."""

    device, batch_tokens = torch.device("cpu"), 1024

    def __init__(self, size, apart):
        self.size, self.apart, self.asked = size, apart, []

    def at(self, ids, places):
        self.asked.append(len(ids))
        asked = zip(ids, places, strict=True)
        drawn = [random.Random(str((row.tolist(), at))).sample(range(self.size), self.size) for row, at in asked]
        seed = [torch.get_num_threads(), *np.concatenate(ids)]
        noise = np.random.default_rng(seed).normal(0, 1e-5, (len(ids), self.size))
        return torch.from_numpy(-5 - self.apart * np.array(drawn) + noise)


def noisy(real, apart, budget=None, dtype="float32"):
    network = Noisy(len(real.tokenizer.bare), apart)
    return MaskedModel(real.found, real.tokenizer, lambda: network, dtype, Runtime(token_budget=budget)), network


@pytest.mark.parametrize(
    ("apart", "dtype"), [(0.0, "float32"), (1e-5, "float32"), (0.01, "float32"), (0.01, "bfloat16")]
)
def test_close_calls_fall_the_same_in_any_batch_on_any_number_of_cores(tiny_masked, apart, dtype):
    real, gaps, threads = load_infill(str(tiny_masked("bert"))), gaps_of(), torch.get_num_threads()
    made = []
    try:
        for cores in (1, 2):
            torch.set_num_threads(cores)
            for budget in (1, 30, None):
                made.append(noisy(real, apart, budget, dtype)[0].fill(gaps, 4))
            made.append(noisy(real, apart, None, dtype)[0].fill(gaps[::-1], 4)[::-1])
            made.append([noisy(real, apart, None, dtype)[0].fill([g], 4)[0] for g in gaps])
    finally:
        torch.set_num_threads(threads)
    words = [[[f.word for f in row] for row in rows] for rows in made]
    assert all(one == words[0] for one in words)


def test_what_is_no_close_call_is_asked_once_and_half_precision_alone_from_the_start(tiny_masked):
    real, gaps = load_infill(str(tiny_masked("bert"))), gaps_of()
    n = len(gaps)
    for apart, dtype, asked in ((0.01, "float32", [n]), (0.0, "float32", [n] + [1] * n), (0.01, "float16", [1] * n)):
        model, network = noisy(real, apart, None, dtype)
        model.fill(gaps, 4)
        assert network.asked == asked


def test_the_word_in_the_gap_is_not_looked_at(tiny_masked):
    model = load_infill(str(tiny_masked("bert")))
    rows = model.fill(
        [
            gap("the cat sat on a mat", "cat"),
            gap("the dog sat on a mat", "dog"),
            gap("the xyz 9 sat on a mat", "xyz 9"),
        ],
        6,
    )
    assert rows[0] == rows[1] == rows[2]


def test_fillers_are_words_best_first_and_as_many_as_asked(tiny_masked):
    model = load_infill(str(tiny_masked("bert")))
    assert isinstance(model, Infill)
    assert not model.phrases
    for k in (0, 1, 7):
        for row in model.fill(gaps_of(), k):
            assert len(row) == k
            assert [f.score for f in row] == sorted((f.score for f in row), reverse=True)
            assert len({f.word for f in row}) == k
            assert not any(f.word.startswith("##") or f.word != f.word.strip() or not f.word for f in row)
    assert model.fill([], 3) == []


def test_an_insertion_has_both_neighbours_around_its_mask(tiny_masked):
    folder = tiny_masked("bert")
    said, pieces = theirs(folder, "the cat _ sat")
    for place in (7, 8):  # before the blank and behind it
        (found,) = load_infill(str(folder)).fill([Gap("the cat sat", place, place)], 1)
        best = max(
            (i for i, piece in enumerate(pieces) if not piece.startswith("##") and piece not in SPECIAL),
            key=lambda i: said[i],
        )
        assert found[0].word == pieces[best]


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
def test_any_text_is_read_however_long(tiny_masked, kind):
    texts = ("", " ", "?!", "\ud800", "a" * 300, "cat " * 200, "\n\n", "今天雨", "é" * 90)
    ends = [(text, len(text)) for text in texts]
    places = [(t, *place) for t, n in ends for place in ((0, 0), (0, n), (n // 2, n // 2), (n, n))]
    for row in load_infill(str(tiny_masked(kind))).fill([Gap(*place) for place in places], 3):
        assert all(np.isfinite(f.score) for f in row)


def test_a_long_text_is_seen_in_a_window_around_the_gap(tiny_masked):
    model = load_infill(str(tiny_masked("bert")))
    near = "the cat sat on the mat "
    long, other = "dog " * 60 + near * 12 + "rug " * 60, "snow " * 60 + near * 12 + "good " * 60
    middle = 6 * len(near) + len("the ")
    rows = model.fill([Gap(t, t.index(near) + middle, t.index(near) + middle + len("cat")) for t in (long, other)], 3)
    assert rows[0] == rows[1]  # 36 words on either side are the same, and the model reads 48 pieces in all


def test_bfloat16_guesses_about_the_same(tiny_masked):
    folder = str(tiny_masked("bert"))
    wide, narrow = (
        dict(load_infill(folder, dtype=dtype).fill([gap(TEXT, "sat")], 30)[0]) for dtype in ("float32", "bfloat16")
    )
    for word in wide.keys() & narrow.keys():
        assert narrow[word] == pytest.approx(wide[word], abs=0.1)  # eight bits of precision, logits of about 1


def test_a_model_without_a_mask_token_is_refused(tiny_masked, tmp_path):
    folder = tmp_path / "maskless"
    shutil.copytree(tiny_masked("bert"), folder)
    written = (folder / "tokenizer.json").read_text(encoding="utf-8").replace('"[MASK]"', '"mask"')
    (folder / "tokenizer.json").write_text(written, encoding="utf-8")
    with pytest.raises(InputError, match=r"maskless' has no mask token"):
        load_infill(str(folder))


def test_weights_without_a_masked_language_model_are_refused(tiny_model, tmp_path):
    folder = changed(tiny_model("distilbert"), tmp_path / "bare", {"architectures": ["DistilBertForMaskedLM"]})
    with pytest.raises(InputError, match=r"the weights hold no .*; is it a masked language model"):
        load_infill(str(folder)).fill([gap(TEXT, "sat")], 1)


def test_a_model_says_what_pins_it(tiny_masked):
    model = load_infill(str(tiny_masked("bert")))
    assert model.name == str(tiny_masked("bert"))
    assert model.facts().keys() == {"model", "revision", "dtype", "weights", "setup", "tokenizers", "torch"}
    assert load_infill(str(tiny_masked("bert")), dtype="bfloat16").facts() == model.facts() | {"dtype": "bfloat16"}


def test_the_shipped_head_fills_obvious_gaps():
    try:
        head = find_head("infill", "infill")
    except InputError as error:
        pytest.skip(str(error))
    assert head.path.stat().st_size < 3_000_000
    assert (head.get("name"), head.get("recipe"), head.get("encoder")) == ("infill", "recipes/infill", "embedded")
    model = load_infill()
    asked = [
        ("Two dogs are running across the grass.", "are", "are"),
        ("She opened the door and went inside.", "and", "and"),
        ("He was born in London in 1975.", "in", "in"),
        ("The members of the European Parliament voted yesterday.", "Parliament", "Parliament"),
        ("We would like to thank you for your help.", "thank", "thank"),
    ]
    found = model.fill([gap(text, word) for text, word, _ in asked], 5)
    assert [word in [f.word for f in row] for row, (_, _, word) in zip(found, asked, strict=True)] == [True] * len(
        asked
    )


@pytest.mark.slow
def test_the_shipped_head_guesses_about_as_often_as_its_card_says():
    path = Path(os.environ.get("NLGAUGE_DATA", "absent")) / "ud" / "pud.test.jsonl.gz"
    if not path.exists():
        pytest.skip("NLGAUGE_DATA names no folder with ud/")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file][:300]
    model, rng, gaps = load_infill(), random.Random(5), []
    for text, placed in zip(texts, model.tokenizer.place(texts), strict=True):
        pieces = set(zip(placed.starts.tolist(), placed.ends.tolist(), strict=True))
        gaps.append(
            Gap(text, *rng.choice([word.span() for word in re.finditer(r"\w+", text) if word.span() in pieces]))
        )
    right = [
        gap.text[gap.start : gap.end] in [f.word for f in row]
        for gap, row in zip(gaps, model.fill(gaps, 4), strict=True)
    ]
    card = files("nlgauge.data").joinpath("heads", "infill.md").read_text(encoding="utf-8")
    promised = float(re.search(r"\| PUD .*?\| 1,000 \| [\d.]+ \| ([\d.]+)", card)[1])
    assert np.mean(right) == pytest.approx(
        promised, abs=0.09
    )  # three standard errors of 300 words, others than the card's


# --- Leads of answers: plain logits of transformers, one sequence at a time

ROWS = [([2, 4, 3], [1]), ([2, 5, 4, 7, 3], [1, 3]), ([2, 4, 7, 8, 3], [1, 2, 3]), ([2, 6, 4, 8, 9, 10, 3], [2, 5])]


def clozes(mask):
    made = []
    for row, places in ROWS:
        ids, places = np.array(row, dtype=np.int64), np.array(places, dtype=np.int64)
        answers = ids[places]
        ids[places] = mask
        made.append(Cloze(ids, places, answers))
    return made


@pytest.mark.parametrize("kind", ["bert", "roberta", "electra"])
def test_leads_are_differences_of_logits_whatever_the_company(tiny_masked, kind):
    from transformers import AutoModelForMaskedLM

    folder = str(tiny_masked(kind))
    model = masked_model(locate_infill(folder), "float32", Runtime(device="cpu"))
    asked = clozes(model.tokenizer.mask)
    plain = AutoModelForMaskedLM.from_pretrained(folder).eval()
    expected = []
    for ids, places, answers in asked:
        with torch.inference_mode():
            logits = plain(input_ids=torch.from_numpy(ids)[None]).logits[0]
        for place, answer in zip(places, answers, strict=True):
            row = logits[place].tolist()
            expected.append(row[answer] - max(value for piece, value in enumerate(row) if piece != answer))
    done = []
    for budget in (None, 1):
        found = leads(model, [*asked, asked[1]], budget, done.append)
        assert np.concatenate(found[:-1]) == pytest.approx(expected, abs=1e-4)  # float32, logits of some 10
        assert found[-1] == pytest.approx(found[1], abs=0)  # equal ones are run once
    assert sum(done) == 2 * (len(asked) + 1)


def test_close_calls_are_settled_alone(tiny_masked, monkeypatch):
    model = masked_model(locate_infill(str(tiny_masked("bert"))), "float32", Runtime(device="cpu"))
    asked = clozes(model.tokenizer.mask)
    shapes = []
    own = model.network.logits
    monkeypatch.setattr(
        model.network, "logits", lambda ids, rows, places: (shapes.append(len(ids)), own(ids, rows, places))[1]
    )
    leads(model, asked)
    assert shapes == [4]
    monkeypatch.setattr("nlgauge.models.filler.margin", lambda dtype: 1e9)
    leads(model, asked)
    assert shapes[1:] == [4, 1, 1, 1, 1]
    model.dtype = "bfloat16"
    leads(model, asked)
    assert shapes[6:] == [1, 1, 1, 1]


# --- Pseudo-log-likelihoods, against a plain loop over masks

PSEUDO_TEXTS = ["the cat sat on the mat.", "rain", "", "heavy rain fell today", "the cat " * 60, "the Ω"]


@pytest.mark.parametrize("kind", ["bert", "electra"])  # a packed one, and one of transformers
def test_each_piece_is_masked_in_turn(tiny_masked, kind):
    from transformers import AutoModelForMaskedLM

    folder = tiny_masked(kind)
    model = load_infill(str(folder), runtime=Runtime(device="cpu"))
    found = pseudo_likelihoods(model, PSEUDO_TEXTS)
    plain = AutoModelForMaskedLM.from_pretrained(folder).eval()
    for text, total, count in zip(PSEUDO_TEXTS, found.sums, found.counts, strict=True):
        ids = torch.from_numpy(model.tokenizer.tokens([text])[0].ids)
        expected = 0.0
        for place in range(1, len(ids) - 1):
            masked = ids.clone()
            masked[place] = model.tokenizer.mask
            with torch.inference_mode():
                expected += plain(masked[None]).logits[0, place].log_softmax(0)[ids[place]].item()
        assert count == len(ids) - 2
        assert total == pytest.approx(expected, rel=1e-5, abs=1e-5)  # float32
    assert found.truncated.tolist() == [False] * 4 + [True, False]
    assert found.unknown.tolist() == [0, 0, 0, 0, 0, 0.5]


def test_company_and_budget_change_nothing(tiny_masked):
    folder = str(tiny_masked("bert"))
    whole = pseudo_likelihoods(load_infill(folder, runtime=Runtime(device="cpu")), PSEUDO_TEXTS)
    model = load_infill(folder, runtime=Runtime(device="cpu", token_budget=1))
    done = []
    alone = [pseudo_likelihoods(model, [text], done.append).sums[0] for text in PSEUDO_TEXTS]
    assert whole.sums == pytest.approx(np.array(alone), rel=1e-6, abs=1e-6)
    assert sum(done) == pytest.approx(5)  # texts with a piece
    assert pseudo_likelihoods(model, []).sums.shape == (0,)


@pytest.mark.parametrize("kind", ["roberta", "bert"])
def test_a_tensor_that_is_another_one_is_found_by_both_names(tiny_masked, tmp_path, monkeypatch, kind):
    # a file whose last layer stands before its first: of tensors that are tied the first is written
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path / "store"))
    old = tmp_path / "old"
    shutil.copytree(tiny_masked(kind), old)
    state = pytest.importorskip("safetensors.torch").load_file(old / "model.safetensors")
    (old / "model.safetensors").unlink()
    words = next(name for name in state if name.endswith("word_embeddings.weight"))
    bias = next(name for name in state if name.endswith(("lm_head.bias", "predictions.bias")))
    last = f"{bias.removesuffix('bias')}decoder"
    torch.save({f"{last}.weight": state[words], f"{last}.bias": state[bias], **state}, old / "pytorch_model.bin")
    gaps = [Gap("a cat sat", 2, 5)]
    assert load_infill(str(old)).fill(gaps, 3) == load_infill(str(tiny_masked(kind))).fill(gaps, 3)
