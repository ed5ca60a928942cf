"""BERTScore with a gradient: by hand, equal to the metric, and a loss that falls."""

import json
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.files import InputFile
from nlgauge.metrics.embedding.bertscore import BertScore, piece_weights
from nlgauge.models.encoder import load_encoder
from nlgauge.models.entailment import LABELS, PairTokenizer, load_nli
from nlgauge.models.heads import find_head
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.heads import check_folder, head_metadata, head_network, narrowed, write_head
from nlgauge.training.meters import match_tokens
from nlgauge.training.nli import (
    KIND,
    LabelledPair,
    accuracy,
    batch_inputs,
    begin_from,
    encode_pairs,
    probabilities,
    save_folder,
    save_head,
    sequence_network,
    train_nli,
)
from nlgauge.training.recipe import NliRecipe, Recipe, Schedule

torch = pytest.importorskip("torch")
if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)


PAIRS = [
    ("the cat sat on the mat", "a cat lay on the rug"),
    ("rain", "the rain fell today and the snow did not"),
    ("the dog fell", "the dog fell"),
]


def test_two_tokens_against_two_by_hand():
    # cosines of (1, 0) and (0, 2) with (3, 4) and (0, 1): .6 and 0, .8 and 1. Best of the hypothesis .6 and 1, of the
    # reference .8 and 1; weights 1 and 3 give P = (.6 + 3) / 4 = .9, and R = .9 as well; F = .9
    vectors = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]), torch.tensor([[[3.0, 4.0], [0.0, 1.0]]])
    ones = torch.ones(1, 2, dtype=torch.bool)
    found = match_tokens(*vectors, torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0, 1.0]]), ones, ones)
    assert [round(float(v), 6) for v in (found.precision, found.recall, found.f1)] == [0.9, 0.9, 0.9]


def padded(encoder, texts, layer):
    """Vectors, weights and mask of texts, padded by noise that must not count."""
    tokens = encoder.tokenizer.tokens(texts)
    vectors = encoder.encode(tokens, layer)
    width = max(len(t.ids) for t in tokens)
    rows = torch.randn(len(texts), width, vectors.matrix.shape[1], generator=torch.Generator().manual_seed(0))
    weights, mask = torch.ones(len(texts), width), torch.zeros(len(texts), width, dtype=torch.bool)
    for i, (token, start, length) in enumerate(zip(tokens, vectors.starts, vectors.lengths, strict=True)):
        rows[i, :length] = 3 * vectors.matrix[start : start + length]  # of any length
        weights[i, :length] = torch.from_numpy(piece_weights(encoder, token.ids, None))
        mask[i, :length] = True
    return rows, weights, mask


def test_values_are_those_of_the_metric(tiny_model):
    model, runtime = str(tiny_model("bert")), Runtime()
    metric = BertScore(model=model, layer=1)
    scores = metric.score([Segment(str(i), hyp, (ref,)) for i, (hyp, ref) in enumerate(PAIRS)], runtime)
    encoder = load_encoder(model, None, "float32", runtime)
    hypotheses, references = (padded(encoder, list(texts), 1) for texts in zip(*PAIRS, strict=True))
    found = match_tokens(*(part for pair in zip(hypotheses, references, strict=True) for part in pair))
    for name in ("precision", "recall", "f1"):  # float32: the order of additions differs
        np.testing.assert_allclose(getattr(found, name).numpy(), scores.parts[name], atol=1e-6)


def test_the_gradient_is_that_of_finite_differences():
    generator = torch.Generator().manual_seed(1)
    hyp, ref = (torch.randn(2, n, 3, generator=generator, dtype=torch.float64) for n in (3, 4))
    mask = torch.tensor([[True, True, False], [True, True, True]]), torch.ones(2, 4, dtype=torch.bool)
    weights = torch.rand(2, 3, generator=generator, dtype=torch.float64), torch.ones(2, 4, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda x: match_tokens(x, ref, *weights, *mask).f1, hyp.requires_grad_(), eps=1e-6, atol=1e-5
    )


def test_a_text_learns_to_match():
    generator = torch.Generator().manual_seed(2)
    ref, hyp = torch.randn(1, 3, 8, generator=generator), torch.randn(1, 3, 8, generator=generator).requires_grad_()
    weights, mask = torch.ones(1, 3), torch.ones(1, 3, dtype=torch.bool)
    optimizer = torch.optim.Adam([hyp], 0.1)
    for _ in range(60):
        optimizer.zero_grad()
        loss = 1 - match_tokens(hyp, ref, weights, weights, mask, mask).f1.mean()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.05


def test_what_weighs_nothing_gives_0_and_what_does_not_fit_is_refused():
    vectors, mask = torch.ones(1, 2, 2, requires_grad=True), torch.ones(1, 2, dtype=torch.bool)
    found = match_tokens(vectors, vectors, torch.zeros(1, 2), torch.ones(1, 2), mask, mask)
    assert tuple(x.item() for x in (found.precision, found.recall, found.f1)) == (0.0, pytest.approx(1.0), 0.0)
    found.f1.sum().backward()
    assert torch.isfinite(vectors.grad).all()
    with pytest.raises(InputError, match="as many texts and dimensions"):
        match_tokens(vectors, torch.ones(2, 2, 2), torch.ones(1, 2), torch.ones(2, 2), mask, mask.expand(2, 2))
    with pytest.raises(InputError, match="has no token"):
        match_tokens(vectors, vectors, torch.ones(1, 2), torch.ones(1, 2), ~mask, mask)
    with pytest.raises(InputError, match=r"expected \(n, tokens, d\)"):
        match_tokens(vectors, vectors, torch.ones(1, 3), torch.ones(1, 2), mask, mask)


# --- Networks that read pairs: features by hand, padding without effect, dropout only where asked

CLASSIFIER_PAIRS = [
    LabelledPair("the cat sat on the mat", "a cat", 0),
    LabelledPair("rain", "not snow today", 1),
    LabelledPair("a dog", "a dog fell", 2),
]
CPU = torch.device("cpu")


@pytest.fixture
def files(tiny_model):
    return locate(str(tiny_model("bert")))


@pytest.fixture
def pairs(files):
    return encode_pairs(CLASSIFIER_PAIRS, PairTokenizer(files, 40))


def test_the_features_are_the_first_vector_and_the_mean_of_all(files, pairs):
    network = head_network(files, 2, 4.0, 0.0, 0, False).eval()
    with torch.no_grad():
        logits = network(**batch_inputs(pairs, [0, 1], 0, CPU))
        for row in (0, 1):
            states = network.encoder(**batch_inputs(pairs, [row], 0, CPU))[0][0]  # alone, without padding
            features = torch.cat([states[0], states.mean(0)])
            # one sum over padded and one over bare rows, in float32
            assert torch.allclose(logits[row], network.classifier(features), atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "distilbert", "xlnet", "t5, bytes"])
def test_a_pair_is_judged_alone_as_among_others(tiny_model, kind):
    files = locate(str(tiny_model(kind)))
    pairs = encode_pairs(CLASSIFIER_PAIRS, PairTokenizer(files, 40))
    network = sequence_network(files, "lora", 2, 4.0, 0.1, 0, False)
    pad = files.config.get("pad_token_id") or 0
    together = probabilities(network, pairs, pad, "float32")
    assert together.sum(axis=1) == pytest.approx(np.ones(3))
    for i, pair in enumerate(CLASSIFIER_PAIRS):
        alone = probabilities(network, encode_pairs([pair], PairTokenizer(files, 40)), pad, "float32")[0]
        assert alone == pytest.approx(together[i], abs=1e-5)  # float32 sums of other lengths
    assert network.training  # as it was


def test_a_batch_is_padded_to_its_longest_pair(pairs):
    inputs = batch_inputs(pairs, [1, 2], 9, CPU)
    assert inputs["input_ids"].shape == (
        2,
        8,
    )  # [CLS] rain [SEP] not snow today [SEP], and one more in [CLS] a dog [SEP] a dog fell [SEP]
    assert inputs["input_ids"][:, -1].tolist() == [9, 3]
    assert inputs["attention_mask"].tolist() == [[1] * 7 + [0], [1] * 8]
    assert inputs["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1]]


def test_dropout_acts_in_training_only(files, pairs):
    network = sequence_network(files, "full", 2, 4.0, 0.5, 0, False).train()
    inputs = batch_inputs(pairs, [0], 0, CPU)
    assert not torch.equal(network(**inputs), network(**inputs))
    network.eval()
    assert torch.equal(network(**inputs), network(**inputs))


def test_new_weights_are_made_by_the_seed(files):
    first, same, other = (head_network(files, 2, 4.0, 0.0, seed, False).classifier.weight for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_what_is_frozen_may_be_kept_narrow(files):
    network = head_network(files, 2, 4.0, 0.0, 0, True)
    assert {p.dtype for p in network.parameters() if p.requires_grad} == {torch.float32}
    assert {p.dtype for p in network.parameters() if not p.requires_grad} == {torch.bfloat16}


def test_a_model_that_reads_no_batch_is_refused(tiny_model):
    with pytest.raises(InputError, match=r"has no piece for padding, which a batch needs; name one as pad_token_id"):
        sequence_network(locate(str(tiny_model("gpt2"))), "full", 2, 4.0, 0.0, 0, False)


# --- Heads and folders as files: the same bytes for the same weights, nothing half-written, nothing written over


@pytest.fixture
def network(files):
    return head_network(files, 2, 4.0, 0.0, 0, False)


def about(files):
    recipe = Recipe(model=files.name, rank=2, max_tokens=40)
    return head_metadata(KIND, recipe, files, "float32", {"name": "x", "data": "é"})


def test_the_same_weights_make_the_same_bytes(files, network, tmp_path):
    paths = [tmp_path / f"{i}.safetensors" for i in range(3)]
    for path in paths:
        save_head(path, network, about(files))
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()
    header = paths[0].read_bytes()[8:].split(b"}}")[0]
    assert header.index(b'"__metadata__"') < header.index(b'"classifier.bias"') < header.index(b'"classifier.weight"')


def test_a_head_is_found_by_the_metrics_side(files, network, tmp_path):
    save_head(tmp_path / "h.safetensors", network, about(files))
    head = find_head(str(tmp_path / "h.safetensors"), "nli")
    own, adapters = head.tensors()
    assert torch.equal(own["classifier.weight"], network.classifier.weight)
    assert len(adapters) == 18  # six linear layers in each of three blocks
    assert (head.get("data"), head.whole("max_tokens"), head.items("labels")) == (
        "é",
        40,
        ("entailment", "neutral", "contradiction"),
    )
    assert {t.dtype for name, t in load_file(tmp_path / "h.safetensors").items() if ".lora_" in name} == {torch.float16}


def test_a_network_begins_from_a_head(files, network, tmp_path):
    with torch.no_grad():
        network.classifier.bias.fill_(0.5)
    save_head(tmp_path / "h.safetensors", network, about(files))
    other = head_network(files, 2, 4.0, 0.0, 1, False)
    begin_from(tmp_path / "h.safetensors", other, files)
    assert torch.equal(other.classifier.weight, network.classifier.weight)
    assert other.classifier.bias.tolist() == [0.5] * 3


@pytest.mark.parametrize("metadata", [None, {"format": "nlgauge-head", "kind": "infill"}])
def test_what_is_no_nli_head_is_no_beginning(files, network, tmp_path, metadata):
    save_file({"classifier.bias": torch.zeros(3)}, tmp_path / "h.safetensors", metadata)
    with pytest.raises(InputError, match=r"h\.safetensors is no NLI head"):
        begin_from(tmp_path / "h.safetensors", network, files)


def test_a_head_for_another_encoder_is_no_beginning(files, network, tmp_path):
    # the shapes are those of every encoder of this size
    metadata = {**about(files), "encoder_sha256": "0" * 64}
    save_head(tmp_path / "h.safetensors", network, metadata)
    with pytest.raises(InputError, match=r"was made for weights with SHA-256 0+, expected [0-9a-f]{64} of model"):
        begin_from(tmp_path / "h.safetensors", network, files)


def test_a_folder_is_never_written_over(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    with pytest.raises(InputError, match="is there already"):
        check_folder(tmp_path / "kept")
    (tmp_path / "empty").mkdir()
    check_folder(tmp_path / "empty")
    check_folder(tmp_path / "new")


def test_a_folder_holds_model_and_tokenizer_and_nothing_else_is_left(files, tmp_path):
    save_folder(tmp_path / "m", sequence_network(files, "lora", 2, 4.0, 0.0, 0, True), files)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    assert {p.name for p in (tmp_path / "m").iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert json.loads((tmp_path / "m" / "config.json").read_text())["architectures"] == [
        "BertForSequenceClassification"
    ]
    assert {tensor.dtype for tensor in load_file(tmp_path / "m" / "model.safetensors").values()} == {torch.float32}


def test_a_folder_that_fails_leaves_nothing(files, tmp_path, monkeypatch):
    network = sequence_network(files, "full", 2, 4.0, 0.0, 0, False)

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy", full)
    with pytest.raises(InputError, match=r"cannot write .*m: No space left on device"):
        save_folder(tmp_path / "m", network, files)
    assert list(tmp_path.iterdir()) == []


def test_adapters_in_eight_bits_are_read_as_they_were(files, network, tmp_path):
    path, narrow = tmp_path / "wide.safetensors", tmp_path / "narrow.safetensors"
    for parameter in network.parameters():  # fresh adapters have zeros on one side
        torch.nn.init.normal_(parameter, std=0.2)
    save_head(path, network, about(files))
    write_head(narrow, narrowed(load_file(path)), {**dict(find_head(str(path), KIND).metadata), "name": "narrow"})
    (_, wide), (_, read) = find_head(str(path), KIND).tensors(), find_head(str(narrow), KIND).tensors()
    for name, pair in wide.items():
        for one, other in zip(pair, read[name], strict=True):
            largest = one.float().abs().amax(dim=1, keepdim=True)
            assert ((one.float() - other).abs() <= largest * 0.5 / 127 + 1e-6).all()  # half a step of its row
    begin_from(str(narrow), network, files)  # a run may begin from it


@pytest.mark.parametrize("lost", ["lora_a_scale", "lora_b_scale"])
def test_whole_numbers_without_their_scale_are_refused(files, network, tmp_path, lost):
    path = tmp_path / "head.safetensors"
    save_head(path, network, about(files))
    tensors = narrowed(load_file(path))
    del tensors[next(name for name in tensors if name.endswith(lost))]
    write_head(path, tensors, dict(find_head(str(path), KIND).metadata))
    with pytest.raises(InputError, match="a number for each row"):
        find_head(str(path), KIND).tensors()


def test_whole_numbers_that_are_no_adapters_stay_as_they_are(files, network, tmp_path):
    path = tmp_path / "head.safetensors"
    save_head(path, network, about(files))
    capital = torch.tensor([[3, 250]], dtype=torch.uint8)  # packed bits, as a head of kind infill has them
    write_head(path, {**load_file(path), "capital": capital}, dict(find_head(str(path), KIND).metadata))
    assert find_head(str(path), KIND).tensors()[0]["capital"].tolist() == [[3.0, 250.0]]


# --- Training on a language of entailment that a tiny model can learn: heads and folders, killed and taken up again

FAST = Schedule(epochs=30, batch_size=16, learning_rate=0.01, seed=3)
SHORT = Schedule(epochs=3, batch_size=16, learning_rate=0.01, seed=3)


def recipe(tiny_model, kind="bert", schedule=SHORT, **options):
    return NliRecipe(model=str(tiny_model(kind)), rank=4, alpha=8.0, max_tokens=40, schedule=schedule, **options)


def train(path, output, how, dtype="float32", **options):
    return train_nli([InputFile(str(path))], str(output), how, options.pop("runtime", Runtime(dtype=dtype)), **options)


def judged(model, path):
    pairs = [json.loads(line) for line in path.read_text().splitlines()]
    found = load_nli(str(model), None, None, "float32", Runtime()).judge(
        [(p["premise"], p["hypothesis"]) for p in pairs]
    )
    return found.probabilities, np.array([LABELS.index(p["label"]) for p in pairs])


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_a_head_learns_and_says_the_same_when_it_is_used(tiny_model, pairs_file, tmp_path, kind):
    out = tmp_path / "head.safetensors"
    (found,) = train(
        pairs_file,
        out,
        recipe(tiny_model, kind, schedule=FAST),
        test=[InputFile(str(pairs_file))],
        about={"name": "tiny"},
    )
    assert found.accuracy > 0.9  # a third by chance
    probabilities, labels = judged(out, pairs_file)
    assert accuracy("", probabilities, labels).accuracy == found.accuracy
    assert sorted(p.name for p in tmp_path.iterdir()) == ["head.safetensors", "pairs.jsonl"]  # no checkpoint is left
    with safe_open(str(out), framework="pt") as file:
        about = file.metadata()
    assert {
        key: about[key]
        for key in (
            "format",
            "version",
            "kind",
            "name",
            "rank",
            "labels",
            "features",
            "max_tokens",
            "dtype",
            "trained_on_phenomena",
        )
    } == {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "nli",
        "name": "tiny",
        "rank": "4",
        "labels": "entailment,neutral,contradiction",
        "features": "cls,mean",
        "max_tokens": "40",
        "dtype": "float32",
        "trained_on_phenomena": "",
    }


@pytest.mark.slow
def test_bfloat16_learns_too(tiny_model, pairs_file, tmp_path):
    (found,) = train(
        pairs_file,
        tmp_path / "h.safetensors",
        recipe(tiny_model, schedule=FAST),
        "bfloat16",
        test=[InputFile(str(pairs_file))],
    )
    assert found.accuracy > 0.8


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("distilbert", "lora"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (("bert", "full"), ("xlm-roberta", "full"), ("xlm-roberta", "lora"))
        ),
    ],
)
def test_any_encoder_becomes_a_folder_that_is_read_like_any_checkpoint(tiny_model, pairs_file, tmp_path, kind, method):
    from transformers import AutoModelForSequenceClassification

    out = tmp_path / "model"
    (found,) = train(pairs_file, out, recipe(tiny_model, kind, FAST, method=method), test=[InputFile(str(pairs_file))])
    assert found.accuracy > 0.6
    probabilities, labels = judged(out, pairs_file)
    # Merged, a weight is rounded once more: a pair that stands between two labels may fall to the other.
    assert accuracy("", probabilities, labels).accuracy == pytest.approx(found.accuracy, abs=1 / len(labels) + 1e-9)
    model = AutoModelForSequenceClassification.from_pretrained(out)
    assert model.config.id2label == dict(enumerate(LABELS))
    assert not [name for name, _ in model.named_parameters() if "lora" in name]


@contextmanager
def killed_after(steps):
    done = []

    def advance(count):
        done.append(count)
        if sum(done) >= steps:
            raise KeyboardInterrupt

    yield advance


@pytest.mark.parametrize(
    ("kind", "output", "dtype"), [("bert", "h.safetensors", "bfloat16"), ("xlm-roberta", "folder", "float32")]
)
def test_a_run_that_was_killed_goes_on_to_the_same_weights(
    tiny_model, pairs_file, tmp_path, monkeypatch, kind, output, dtype
):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 4)
    how = recipe(tiny_model, kind, dropout=0.1)
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    train(pairs_file, tmp_path / "whole" / output, how, dtype)
    target = tmp_path / "killed" / output
    with pytest.raises(KeyboardInterrupt):
        train(pairs_file, target, how, runtime=Runtime(dtype=dtype, progress=lambda total, label: killed_after(7)))
    assert [p.name for p in target.parent.iterdir()] == [f"{output}.checkpoint"]  # nothing under the final name
    train(pairs_file, target, how, dtype)
    weights = [
        load_file(path if path.is_file() else path / "model.safetensors")
        for path in (tmp_path / "whole" / output, target)
    ]
    assert weights[0].keys() == weights[1].keys()
    assert all(weights[0][key].equal(weights[1][key]) for key in weights[0])


def test_a_checkpoint_of_other_data_is_refused(tiny_model, pairs_file, tmp_path, monkeypatch):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 1)
    out = tmp_path / "h.safetensors"
    with pytest.raises(KeyboardInterrupt):
        train(pairs_file, out, recipe(tiny_model), runtime=Runtime(progress=lambda total, label: killed_after(3)))
    pairs_file.write_text(pairs_file.read_text() * 2)
    with pytest.raises(InputError, match=r"of another run \(train differ\)"):
        train(pairs_file, out, recipe(tiny_model))


def test_the_seed_makes_the_weights(tiny_model, pairs_file, tmp_path):
    heads = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(
            pairs_file,
            tmp_path / f"{name}.safetensors",
            recipe(tiny_model, schedule=Schedule(batch_size=16, seed=seed)),
        )
        heads.append((tmp_path / f"{name}.safetensors").read_bytes())
    assert heads[0] == heads[1] != heads[2]


def test_a_head_goes_on_from_another(tiny_model, pairs_file, tmp_path):
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    train(pairs_file, first, recipe(tiny_model, schedule=SHORT))
    still = Schedule(batch_size=16, learning_rate=1e-9)
    train(pairs_file, second, recipe(tiny_model, schedule=still, init=str(first)))
    before, after = judged(first, pairs_file)[0], judged(second, pairs_file)[0]
    assert np.abs(before - after).max() < 1e-4


def test_accuracy_by_hand():
    # said e, n, c, c; true e, c, c, n
    found = accuracy("x", np.eye(3)[[0, 1, 2, 2]], np.array([0, 2, 2, 1]))
    assert (found.n, found.accuracy, found.two_way) == (4, 0.5, 1.0)
    assert found.recall == (1.0, 0.0, 0.5)
    assert np.isnan(accuracy("x", np.eye(3)[[0]], np.array([0])).recall[1])


@pytest.mark.parametrize(
    ("output", "options", "dtype", "message"),
    [
        ("h.safetensors", {"method": "full"}, "float32", "a head holds adapters"),
        ("h.safetensors", {}, "float16", "dtype is float16, expected bfloat16 or float32"),
        ("h.safetensors", {"dropout": 1.0}, "float32", "dropout is 1.0"),
        ("folder", {"init": "h.safetensors"}, "float32", "goes with a head to write"),
        ("missing/h.safetensors", {}, "float32", "there is no folder"),
        (".", {}, "float32", "is there already"),
        ("h.safetensors", {"init": "pairs.jsonl"}, "float32", "no safetensors file"),
    ],
)
def test_what_cannot_be_trained_or_written_is_refused_first(
    tiny_model, pairs_file, tmp_path, monkeypatch, output, options, dtype, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        train(pairs_file, output, recipe(tiny_model, **options), dtype)


def test_a_head_is_made_for_two_families(tiny_model, pairs_file, tmp_path):
    with pytest.raises(
        InputError, match=r"a head is made for encoders of type bert or mpnet, .* is 'xlm-roberta'; name a folder"
    ):
        train(pairs_file, tmp_path / "h.safetensors", recipe(tiny_model, "xlm-roberta"))
