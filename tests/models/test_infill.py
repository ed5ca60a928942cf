import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.models.filler import load_infill
from nlgauge.models.heads import find_head
from nlgauge.models.infill import Denoiser, Filler, Gap, Infill, PieceTokenizer, between, locate_infill
from nlgauge.models.locate import locate
from nlgauge.perturbations import severity
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("transformers")
torch = pytest.importorskip("torch")


def test_perturbations_speak_of_the_same_gaps():
    assert (severity.Gap, severity.Filler, severity.Infill) == (Gap, Filler, Infill)


# --- Which files a model for gaps is made of, found without loading it


def test_the_shipped_head_stands_on_its_encoder_and_fills_with_words():
    found, head = locate_infill(), find_head("infill", "infill")
    assert (found.name, found.head, found.files, found.phrases) == ("infill", head, head.encoder, False)


def test_an_encoder_decoder_fills_with_phrases_and_a_masked_language_model_with_words(tiny_masked, tiny_model):
    assert locate_infill(str(tiny_model("t5"))).phrases
    assert not locate_infill(str(tiny_masked("bert"))).phrases


def test_what_pins_it_says_the_head_first():
    assert list(locate_infill().facts()) == ["head", "weights", "tokenizers", "torch"]


def test_names_that_are_no_filler_are_refused(tiny_model, tiny_nli, tiny_head, tiny_masked, tmp_path):
    with pytest.raises(InputError, match=r"expected a masked language model \(BERT, RoBERTa, ...\) or a denoising"):
        locate_infill(str(tiny_nli("bert")))
    with pytest.raises(InputError, match="expected a masked language model"):
        locate_infill(str(tiny_model("gpt2")))
    with pytest.raises(InputError, match="the embedded encoder alone fills no gaps; 'infill' is the head"):
        locate_infill("embedded")
    with pytest.raises(InputError, match=r"is for nli, expected one for infill"):
        locate_infill(str(tiny_head()))
    with pytest.raises(InputError, match="has no revisions"):
        locate_infill("infill", "main")
    with pytest.raises(InputError, match="does not exist"):
        locate_infill(str(tmp_path / "none"))


# --- Which pieces are words and where they stand, in three ways of writing a vocabulary

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


# --- Denoisers of random weights: who writes the text anew, who writes the span, and what of it is taken

words = st.lists(st.sampled_from(["a", "red", "Boat,", "sails", "…"]), min_size=1, max_size=4).map(" ".join)


@given(left=words, span=words, right=words)
def test_what_stands_between_is_found(left, span, right):
    assert between(f"{left} {span} {right}", left, right) == span
    assert (
        between(f"  {left.upper()}{span}\n{right.lower()} ", left, right) == span
    )  # blanks and capitals are the decoder's


@pytest.mark.parametrize(
    ("written", "left", "right"),
    [
        ("a red boat sails", "a blue", "sails"),  # the left side was changed
        ("a red boat sails", "a", "sinks"),  # the right one
        ("a boat sails", "a boat", "sails"),  # nothing in between
        ("a boat", "a boat", "boat"),  # too short for both
        ("", "a", "b"),
    ],
)
def test_a_text_that_was_rewritten_has_no_filler(written, left, right):
    assert between(written, left, right) is None


def test_without_context_all_is_filler():
    assert between(" a red boat ", "", "") == "a red boat"


class Scripted:
    """A loaded model that writes what it is told, to hold the alignment alone."""

    def __init__(self, tokenizer, answers, limit=None):
        self.tokenizer, self.answers, self.limit = tokenizer, answers, limit
        self.device = torch.device("cpu")
        self.asked = []

    def generate(self, pieces, most, **search):
        self.asked += [self.tokenizer.decode(ids, skip_special_tokens=False) for ids in pieces]
        rows = [self.tokenizer(text)["input_ids"] for text in self.answers]
        pad = self.tokenizer.pad({"input_ids": rows}, return_tensors="pt")["input_ids"]

        class AppliedEdit:
            sequences = pad
            sequences_scores = -torch.arange(len(rows), dtype=torch.float32)

        return AppliedEdit


def scripted(folder, answers, limit=None):
    from transformers import AutoTokenizer

    model = Scripted(AutoTokenizer.from_pretrained(folder), answers, limit)
    return Denoiser(locate_infill(str(folder)), lambda: model, "float32", Runtime()), model


def test_of_what_bart_writes_the_words_between_are_taken(tiny_denoiser):
    answers = ["the cat sat on a mat", "the dog sat on a mat", "the cat lay down on a mat", "the cat sat on a mat"]
    model, loaded = scripted(tiny_denoiser("bart"), answers)
    text = "the cat fell on a mat"
    assert model.phrases
    assert model.fill([Gap(text, 8, 12)], 4) == [[Filler("sat", 0.0), Filler("lay down", -2.0)]]
    assert "the cat<mask> on a mat" in loaded.asked[0].replace(" <mask>", "<mask>")


def test_where_something_is_put_in_the_mask_has_blanks_around_it(tiny_denoiser):
    model, loaded = scripted(tiny_denoiser("bart"), ["the big cat sat", "the cat sat"])
    for place in (3, 4):
        assert model.fill([Gap("the cat sat", place, place)], 2) == [[Filler("big", 0.0)]]
    assert all("the <mask> cat sat" in asked for asked in loaded.asked)


def test_of_a_long_text_the_denoiser_sees_what_is_near(tiny_denoiser):
    model, loaded = scripted(tiny_denoiser("bart"), ["x"], limit=40)
    text = "dog " * 50 + "cat " + "mat " * 50
    model.fill([Gap(text, 200, 203)], 1)
    (asked,) = loaded.asked
    assert len(loaded.tokenizer(asked, add_special_tokens=False)["input_ids"]) <= 40
    assert "dog" in asked.split("<mask>")[0]
    assert "mat" in asked.split("<mask>")[1]


@pytest.mark.parametrize("kind", ["bart", "mbart", "t5", "t5, bytes"])
def test_any_denoiser_answers_each_gap_alike_in_any_batch(tiny_denoiser, kind):
    folder = str(tiny_denoiser(kind))
    gaps = [
        Gap("the cat sat on a mat", 8, 11),
        Gap("a dog", 2, 5),
        Gap("the cat sat on a mat", 8, 11),
        Gap("rain fell", 4, 4),
    ]
    model = load_infill(folder)
    assert isinstance(model, Infill)
    together = model.fill(gaps, 2)
    assert together[0] == together[2]
    alone = [model.fill([gap], 2)[0] for gap in gaps]
    # Padding changes sums in their last places; the words stay.
    assert [[f.word for f in row] for row in together] == [[f.word for f in row] for row in alone]
    assert all(f.word == " ".join(f.word.split()) != "" for row in together for f in row)
    assert model.fill([], 2) == []


def test_a_denoiser_of_many_languages_reads_and_writes_the_one_named(many_languages):
    gap, runtime = [Gap("the cat sat on a mat", 8, 11)], Runtime()
    english, german = (load_infill(str(many_languages), runtime=runtime, language=c) for c in ("en_XX", "de_DE"))
    assert english.loaded is german.loaded  # one copy, asked in turn
    generate, asked, tokenizer = english.loaded.generate, [], english.loaded.tokenizer

    def noted(pieces, most, **search):
        ((ids,), first) = pieces, search["forced_bos_token_id"]
        asked.append([code for code in ("en_XX", "de_DE") if tokenizer.convert_tokens_to_ids(code) in ids])
        asked.append(tokenizer.convert_ids_to_tokens(first))
        return generate(pieces, most, **search)

    english.loaded.generate = noted
    for model in (english, german, english):
        model.fill(gap, 2)
    assert asked == [["en_XX"], "en_XX", ["de_DE"], "de_DE", ["en_XX"], "en_XX"]
    assert german.facts()["language"] == "de_DE"
    assert "language" not in load_infill(str(many_languages)).facts()
    with pytest.raises(InputError, match="knows no language 'xx'"):
        load_infill(str(many_languages), language="xx").fill(gap, 1)


def test_a_language_is_refused_where_a_filler_marks_none(tiny_denoiser, tiny_masked):
    with pytest.raises(InputError, match="marks no languages"):
        load_infill(str(tiny_denoiser("t5")), language="de_DE").fill([Gap("a cat", 2, 5)], 1)
    with pytest.raises(InputError, match="marks no languages"):
        load_infill(str(tiny_masked("bert")), language="de_DE")


def test_what_t5_writes_between_its_sentinels_is_taken(tiny_denoiser):
    model, loaded = scripted(tiny_denoiser("t5"), ["<extra_id_0> a dog<extra_id_1> cat", "<extra_id_0> rain", "snow"])
    found = model.fill([Gap("the cat sat", 4, 7)], 3)
    assert found == [[Filler("a dog", 0.0), Filler("rain", -1.0)]]
    assert "<extra_id_0>" in loaded.asked[0]


def test_an_encoder_decoder_that_cannot_be_asked_is_refused(tiny_denoiser, tmp_path):
    import json
    import shutil

    folder = tmp_path / "maskless"
    shutil.copytree(tiny_denoiser("bart"), folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(
        json.dumps({key: value for key, value in settings.items() if key != "mask_token"})
    )
    with pytest.raises(InputError, match=r"maskless' has neither a mask token nor <extra_id_0>"):
        load_infill(str(folder)).fill([Gap("a cat", 2, 5)], 1)
