import numpy as np
import pytest
from tests.models.conftest import changed

from nlgauge.core.errors import InputError
from nlgauge.models.entailment import LABELS, NliModel, PairTokenizer, _cut, columns_of, load_nli, locate_nli, softmax
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")


TEXTS = [
    "the cat sat", "rain fell today", "a", "not good morning, the dog lay on the rug!", "今天雨", "the cat " * 40,
    "[SEP] a </s> b",
]  # fmt: skip
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


def test_a_tokenizer_without_a_fast_form_frames_a_pair_too(tiny_model):
    from transformers import AutoTokenizer

    folder = tiny_model("t5, bytes")
    expected = AutoTokenizer.from_pretrained(folder)("a cat", "b")["input_ids"]
    assert one(PairTokenizer(locate(str(folder))), "a cat", "b")[0] == expected


SAME = 1e-6  # float32 keeps 6e-8; probabilities are at most 1, and some ten roundings stand before them
ENTAILMENT_TEXTS = [
    "the cat sat on the mat", "a dog", "rain fell today, not snow!", "good morning", "the cat " * 12, "今天雨 \ud800",
    "x" * 60,
]  # fmt: skip
PAIRS = [(a, b) for a in ENTAILMENT_TEXTS for b in ENTAILMENT_TEXTS]


def loaded(path, dtype="float32", labels=None, budget=None, max_tokens=None, runtime=None):
    return load_nli(str(path), None, labels, dtype, runtime or Runtime(token_budget=budget, device="cpu"), max_tokens)


def theirs(folder, pairs, dtype=torch.float32):
    """transformers' own loop, one pair at a time: probabilities in the model's order, shape (n, k)."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=dtype).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = []
    with torch.inference_mode():
        for a, b in pairs:
            a, b = a.strip().replace("\ud800", "\ufffd"), b.strip().replace("\ud800", "\ufffd")
            encoded = tokenizer(a, b, truncation="longest_first", max_length=48, return_tensors="pt")
            found.append(torch.softmax(model(**encoded).logits[0].double(), dim=-1).numpy())
    return np.stack(found)


KINDS = ("bert", "roberta", "xlm-roberta", "deberta", "deberta-v2", "bart", "albert")


@pytest.mark.parametrize(
    ("kind", "budget"),
    [
        *(("bert", None), ("bart", None), ("roberta", 1)),  # networks of all: tests/models/test_networks.py
        *(pytest.param(kind, budget, marks=pytest.mark.slow) for kind in KINDS for budget in (None, 1, 100)),
    ],
)
def test_probabilities_are_those_of_transformers_whatever_the_batch(tiny_nli, kind, budget):
    folder = tiny_nli(kind)
    expected = theirs(folder, PAIRS)
    assert expected.std(axis=0).min() > 1e-3  # pairs differ, or nothing would be shown
    np.testing.assert_allclose(loaded(folder, budget=budget).judge(PAIRS).probabilities, expected, atol=SAME, rtol=0)


@pytest.mark.parametrize(
    "order", [("contradiction", "neutral", "entailment"), ("NEUTRAL", "Entailment", "Contradiction")]
)
def test_columns_follow_the_names_of_the_model(tiny_nli, order):
    folder = tiny_nli("bert", order)
    columns = [[name.lower() for name in order].index(label) for label in LABELS]
    np.testing.assert_allclose(
        loaded(folder).judge(PAIRS[:9]).probabilities, theirs(folder, PAIRS[:9])[:, columns], atol=SAME, rtol=0
    )


def test_equal_pairs_are_run_once_and_texts_read_once(tiny_nli, monkeypatch):
    model = loaded(tiny_nli("bert"))
    asked, read = [], []
    logits, tokens = model.network.logits, model.tokenizer._texts.tokens
    monkeypatch.setattr(model.network, "logits", lambda ids, types: asked.extend(ids) or logits(ids, types))
    monkeypatch.setattr(model.tokenizer._texts, "tokens", lambda texts, long: read.extend(texts) or tokens(texts, long))
    found = model.judge([("a cat", "a dog"), ("a dog", "a cat"), ("a cat", "a dog")])
    assert len(asked) == 2
    assert sorted(read) == ["a cat", "a dog"]
    assert (found.probabilities[0] == found.probabilities[2]).all()
    assert (np.abs(found.probabilities[0] - found.probabilities[1]) > 1e-4).all()  # far beyond rounding


def test_a_pair_alone_hangs_on_nothing_but_the_pair(tiny_nli):
    real, threads = loaded(tiny_nli("bert")), torch.get_num_threads()

    class Noisy:
        """All noise, which hangs on the whole batch and on the cores it has."""

        device, batch_tokens = torch.device("cpu"), 1024

        def logits(self, ids, types):
            noise = np.random.default_rng([torch.get_num_threads(), *np.concatenate(ids)]).normal(0, 1, (len(ids), 3))
            return torch.from_numpy(noise)

    model = NliModel(real.found, real.tokenizer, Noisy, None)
    try:
        found = []
        for cores in (1, 2):
            torch.set_num_threads(cores)
            found += [model.judge(PAIRS, alone=True), model.judge(PAIRS[::-1], alone=True)]
            found[-1].probabilities[:] = found[-1].probabilities[::-1]
        one = np.concatenate([model.judge([pair], alone=True).probabilities for pair in PAIRS])
    finally:
        torch.set_num_threads(threads)
    for other in found:
        np.testing.assert_array_equal(other.probabilities, one)
    assert not np.allclose(model.judge(PAIRS).probabilities, one)


def test_progress_counts_a_pair_as_often_as_it_is_there(tiny_nli):
    done = []
    loaded(tiny_nli("bert")).judge([PAIRS[0]] * 10, advance=done.append)
    assert done == [10]  # not 1 of 10, from which the time left would be ten times as long


def test_a_pair_beyond_the_limit_is_flagged(tiny_nli):
    found = loaded(tiny_nli("bert"), max_tokens=8).judge([("a cat", "a dog"), ("the cat sat on the mat", "a dog")])
    assert found.truncated.tolist() == [False, True]
    # [CLS] + 5 pieces + [SEP] [SEP]: three of the first stay beside the two of the second
    same = loaded(tiny_nli("bert")).judge([("the cat sat", "a dog")])
    np.testing.assert_allclose(found.probabilities[1], same.probabilities[0], atol=SAME, rtol=0)


def test_nothing_to_judge_loads_nothing(tiny_nli):
    model = loaded(tiny_nli("bert"))
    found = model.judge([])
    assert found.probabilities.shape == (0, 3)
    assert "network" not in vars(model)


def test_a_model_is_loaded_once_for_each_precision(tiny_nli):
    runtime = Runtime(device="cpu")
    one, other = (loaded(tiny_nli("bert"), runtime=runtime).network for _ in range(2))
    assert one is other
    assert loaded(tiny_nli("bert"), "bfloat16", runtime=runtime).network is not one


def test_a_head_reads_as_many_tokens_as_it_was_trained_with_unless_told_otherwise(tiny_head):
    path = tiny_head()
    assert loaded(path).tokenizer.max_tokens == 32
    assert loaded(path, max_tokens=12).tokenizer.max_tokens == 12
    assert loaded(path, max_tokens=40).tokenizer.max_tokens == 40
    assert loaded(path, max_tokens=400).tokenizer.max_tokens == 48  # what the encoder can read


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (LABELS, (0, 1, 2)),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), (2, 1, 0)),
        (("neutral", " Contradiction", "entailment "), (2, 0, 1)),
        (("entails", "contradicts", "neutral"), (0, 2, 1)),
        # Two labels, as published models name them: supported comes first.
        (("unsupported", "supported"), (1, 0)),
        (("SUPPORTED", "NOT_SUPPORTED"), (0, 1)),
        (("entailment", "not_entailment"), (0, 1)),
        (("non-entailment", "entailment"), (1, 0)),
        (("hallucination", "consistent"), (1, 0)),
        (("Consistent", " Inconsistent "), (0, 1)),
        (("hallucinated", "not hallucinated"), (1, 0)),
    ],
)
def test_labels_in_any_order_and_case(names, columns):
    assert columns_of(names, "m") == columns


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ("LABEL_0", "LABEL_1"),
            (
                r"^model 'm' calls its labels LABEL_0, LABEL_1, expected supported and unsupported; if it is a fact"
                r' checker, say the order: labels="unsupported,supported" \(as its card has it\)$'
            ),
        ),
        (("negative", "positive"), r"calls its labels negative, positive, expected supported and unsupported"),
        (("entailment", "neutral"), r"calls its labels entailment, neutral, expected supported and unsupported"),
        (("supported", "consistent"), r"calls its labels supported, consistent, expected supported and unsupported"),
        (
            ("score",),
            (
                r"^model 'm' has 1 labels \(score\), expected entailment, neutral and contradiction, or supported and"
                r" unsupported; is it an NLI model\?$"
            ),
        ),
        ((), r"has 0 labels \(none\)"),
        (
            ("LABEL_0", "LABEL_1", "LABEL_2"),
            r"^model 'm' calls its labels LABEL_0, LABEL_1, LABEL_2, expected .* say the order: labels=\"c",
        ),
        (("negative", "neutral", "positive"), r"calls its labels negative, neutral, positive"),
        (("entailment", "entailment", "contradiction"), r"calls its labels entailment, entailment, contradiction"),
    ],
)
def test_a_model_without_these_labels_is_refused_with_what_it_has(names, message):
    with pytest.raises(InputError, match=message):
        columns_of(names, "m")


def test_the_user_may_say_the_order():
    assert columns_of(("LABEL_0", "LABEL_1", "LABEL_2"), "m", "contradiction,entailment,neutral") == (1, 2, 0)
    assert columns_of(("entailment", "neutral", "contradiction"), "m", "entailment, neutral, contradiction") == (
        0,
        1,
        2,
    )
    with pytest.raises(
        InputError,
        match=r"its labels entailment, neutral, contradiction, in this order; labels='neutral,.*' says otherwise",
    ):
        columns_of(LABELS, "m", "neutral,entailment,contradiction")
    for wrong in ("entailment,neutral", "a,b,c", "", "entailment,entailment,neutral"):
        with pytest.raises(
            InputError,
            match=(
                r"^labels is '.*', expected entailment, neutral and contradiction in the order of the model's outputs"
            ),
        ):
            columns_of(("LABEL_0", "LABEL_1", "LABEL_2"), "m", wrong)


def test_the_user_may_say_the_order_of_two_labels():
    unnamed = ("LABEL_0", "LABEL_1")
    assert columns_of(unnamed, "m", "unsupported,supported") == (1, 0)
    assert columns_of(unnamed, "m", "supported, unsupported") == (0, 1)
    assert columns_of(("entailment", "not_entailment"), "m", "supported,unsupported") == (0, 1)  # the same in words
    assert columns_of(("SUPPORTS", "REFUTES"), "m", "supported,unsupported") == (0, 1)
    with pytest.raises(InputError, match=r"its labels entailment, not_entailment, in this order; labels='uns.* leave"):
        columns_of(("entailment", "not_entailment"), "m", "unsupported,supported")
    for wrong in ("contradiction,neutral,entailment", "supported", "supported,supported", "a,b", ""):
        with pytest.raises(
            InputError,
            match=(
                r"^labels is '.*', expected supported and unsupported in the order of the model's outputs \(LABEL_0,"
                r" LABEL_1\), with commas$"
            ),
        ):
            columns_of(unnamed, "m", wrong)
    with pytest.raises(InputError, match=r"^labels is 'unsupported,supported', expected entailment, neutral and"):
        columns_of(("LABEL_0", "LABEL_1", "LABEL_2"), "m", "unsupported,supported")


@pytest.mark.parametrize(
    ("kind", "order", "place"),
    [("roberta", ("unsupported", "supported"), 1), ("deberta-v2", ("entailment", "not_entailment"), 0)],
)
def test_of_two_labels_the_probability_of_supported_stands_alone(tiny_nli, kind, order, place):
    folder = tiny_nli(kind, order)
    expected = theirs(folder, PAIRS)[:, place]
    assert expected.std() > 1e-3  # pairs differ, or nothing would be shown
    found = loaded(folder).judge(PAIRS).probabilities
    np.testing.assert_allclose(found[:, 0], expected, atol=SAME, rtol=0)
    assert np.isnan(found[:, 1:]).all()  # what is not supported is not split
    alone = loaded(folder).judge(PAIRS[:3], alone=True).probabilities
    np.testing.assert_allclose(alone[:, 0], expected[:3], atol=SAME, rtol=0)


def test_labels_are_read_by_number_not_by_place(tiny_nli, tmp_path):
    labels = {"2": "contradiction", "0": "entailment", "1": "neutral"}
    folder = changed(tiny_nli("bert"), tmp_path / "turned", {"id2label": labels})
    assert locate_nli(str(folder)).columns == (0, 1, 2)


def test_the_encoder_alone_is_no_nli_model():
    with pytest.raises(InputError, match="says nothing of entailment; model=nli is the head"):
        locate_nli("embedded")


def test_a_model_that_cannot_be_fetched_is_told_with_what_to_take_instead(monkeypatch, tmp_path):
    import huggingface_hub

    def absent(*args, **options):
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", absent)
    with pytest.raises(
        InputError,
        match=r"cannot be fetched.*: run 'nlgauge fetch own/nli'.* or use model=nli for English, and model=nli-multi",
    ):
        locate_nli("own/nli")


def test_a_head_has_no_revision(tiny_head):
    with pytest.raises(InputError, match="has no revisions; leave revision out"):
        locate_nli(str(tiny_head()), "main")


def test_what_pins_a_model_stands_in_its_facts(tiny_nli, tiny_head):
    folder = locate_nli(str(tiny_nli("bert", ("contradiction", "neutral", "entailment")))).facts()
    assert folder["labels"] == "contradiction,neutral,entailment"
    assert folder["weights"].startswith("sha256:")
    assert folder["setup"].startswith("sha256:")
    assert "head" not in folder
    two = locate_nli(str(tiny_nli("bert", ("hallucination", "consistent"))))
    assert (two.columns, two.is_split, two.facts()["labels"]) == ((1, 0), False, "unsupported,supported")
    head = locate_nli(str(tiny_head()))
    assert (head.columns, head.is_split) == ((0, 1, 2), True)
    assert head.facts()["head"] == head.head.identity[:23]
    assert head.facts()["weights"] != head.facts()["head"]
    assert head.trained_on == ("negation", "number_error")
    assert locate_nli(str(tiny_nli("bert"))).trained_on == ()


def test_softmax_worked_by_hand():
    # e^0, e^ln2, e^ln5 over 8
    assert softmax(np.log(np.array([[1.0, 2.0, 5.0]]))).tolist()[0] == pytest.approx([0.125, 0.25, 0.625], rel=1e-15)
