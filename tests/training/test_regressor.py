"""Regressors that read both texts in one sequence, trained on a signal that a tiny model can learn."""

import json
import random
from dataclasses import replace
from importlib.util import find_spec
from math import inf

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.torch import load_file
from tests.training.conftest import killed_after

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.encoder import MATCH, MATCHED, load_encoder
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.locate import locate
from nlgauge.models.matching import mean_vectors
from nlgauge.models.regressor import load_regressor
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.training import linear, regressor
from nlgauge.training.examples import Example, ExampleTexts, read_triples
from nlgauge.training.heads import pad_of, padded
from nlgauge.training.loop import Dev, cores
from nlgauge.training.recipe import Loss, RegressorRecipe, Schedule
from nlgauge.training.regressor import (
    CrossedLearner,
    Learner,
    PairTexts,
    RegressorNetwork,
    crossed_network,
    train_regressor,
    whole_encoder,
)

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)
torch = pytest.importorskip("torch")


SHORT = Schedule(epochs=1, batch_size=16, learning_rate=0.005, seed=3)  # 15 steps of 240 examples
LONG = Schedule(epochs=6, batch_size=16, learning_rate=0.01, seed=3)
STILL = Schedule(epochs=1, batch_size=240, learning_rate=1e-12, seed=3)  # one step that moves nothing
PARITY = 2e-3  # float16 holds an adapter to 2^-11 of its size; scores are of the size of 5
CPU = Runtime(device="cpu", dtype="float32")
RIDGE = {"method": "ridge", "features": "4h+match"}


def triples():
    """Sentences of a few words, some without k of them: a score of -k that a tiny model can learn."""
    rng, known = random.Random(0), "the cat dog sat lay mat rug rain snow fell heavy today good morning".split()
    for i in range(60):
        words = rng.sample(known, 8)
        for k in (0, 2, 4, 6):
            gone = set(rng.sample(range(8), k))
            kept = " ".join(w for j, w in enumerate(words) if j not in gone)
            yield {"id": f"{i}.{k}", "hyp": kept, "refs": [" ".join(words)], "score": -float(k)}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    path = tmp_path_factory.mktemp("triples") / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in triples()))
    return read_triples(InputFile(str(path)))


def recipe(tiny_model, kind="bert", **options):
    usual = {"rank": 4, "alpha": 8.0, "max_tokens": 30, "schedule": SHORT, "standardise": True, "held_out": 0.0}
    return RegressorRecipe(model=str(tiny_model(kind)), features="both", **usual | options)


def train(examples, output, how, runtime=CPU, **options):
    return train_regressor(examples, str(output), how, runtime, **options)


def used(model, examples):
    hyps, refs = ([e.texts[name] for e in examples] for name in ("hyp", "ref"))
    name = f'regressor:model="{model}"'
    return ng.score(hyps, refs, metrics=[name], runtime=CPU).popitem()[1].values


def metadata(path):
    with safe_open(str(path), framework="pt") as file:
        return file.metadata()


class Spy(Dev):
    """Keeps what it is asked to measure."""

    def measure(self, scores, owners):
        self.seen.append(scores)
        return 0.0


def spied(examples):
    dev = Spy("spy", examples)
    object.__setattr__(dev, "seen", [])
    return dev


# every family: test_what_learns_is_what_scores_in_every_family
@pytest.mark.parametrize("kind", ["bert", pytest.param("mpnet", marks=pytest.mark.slow)])
def test_a_head_learns_and_the_metric_says_what_training_said(tiny_model, examples, tmp_path, kind):
    out, dev = tmp_path / "head.safetensors", spied(examples[:60])
    how = recipe(tiny_model, kind, schedule=LONG, evaluate_every=10**6)  # one evaluation, at the end
    said = train(examples, out, how, dev=dev, about={"name": "tiny", "high": "0"})
    assert np.mean(said.losses[-15:]) < 0.5 * np.mean(said.losses[:15])  # 1 is the variance
    found = used(out, examples[:60])
    truth = np.array([e.score for e in examples[:60]])
    assert np.corrcoef(found, truth)[0, 1] > 0.7  # 0 by chance
    assert found[truth == 0].mean() > found[truth == -6].mean() + 2
    assert found == pytest.approx(dev.seen[-1], abs=PARITY)
    assert [p.name for p in tmp_path.iterdir()] == ["head.safetensors"]  # no checkpoint is left
    about = metadata(out)
    expected = {
        "format": "nlgauge-head",
        "kind": "regressor",
        "name": "tiny",
        "method": "lora",
        "features": "both",
        "pooling": "cls,mean",
        "rank": "4",
        "max_tokens": "30",
        "low": "-6",
        "high": "0",
        "loss": "mse",
    }
    assert {key: about[key] for key in expected} == expected
    assert not {"widths", "layers", "init"} & about.keys()
    own = {name: tuple(t.shape) for name, t in load_file(str(out)).items() if ".lora_" not in name}
    assert own == {"classifier.weight": (1, 64), "classifier.bias": (1,)}


def stopping(steps):
    return replace(CPU, progress=lambda total, label: killed_after(steps if label == "steps" else inf))


@pytest.mark.parametrize("method", ["both", "frozen", pytest.param("lora", marks=pytest.mark.slow)])
def test_a_run_that_was_stopped_goes_on_to_the_same_curve_and_weights(
    tiny_model, examples, tmp_path, monkeypatch, method
):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 2 if method == "both" else 7)
    if method == "both":
        examples = examples[:120]  # of which 108 are learnt from, in seven steps
        options = {"held_out": 0.1, "loss": Loss(name="mse+pairwise"), "encoder_dropout": 0.1}
        how, steps = recipe(tiny_model, evaluate_every=3, **options), 5
    else:
        how, steps = apart_recipe(tiny_model, method=method, evaluate_every=4), 17
    whole, out = tmp_path / "whole.safetensors", tmp_path / "again.safetensors"
    said = train(examples, whole, how, curve=str(tmp_path / "whole.tsv"))
    assert len(said.evaluated) > 1
    with pytest.raises(KeyboardInterrupt):
        train(examples, out, how, stopping(steps))
    assert [p.name for p in tmp_path.glob("again*")] == ["again.safetensors.checkpoint"]
    # losses, evaluations and the best of them, to the last bit
    assert train(examples, out, how, curve=str(tmp_path / "again.tsv")) == said
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert out.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "again.safetensors.checkpoint").exists()


def test_the_head_to_begin_from_is_part_of_what_a_checkpoint_is_of(
    tiny_model, tiny_head, examples, tmp_path, monkeypatch
):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 2)
    out = tmp_path / "h.safetensors"
    with pytest.raises(KeyboardInterrupt):
        train(examples, out, recipe(tiny_model, init=str(tiny_head())), stopping(5))
    with pytest.raises(InputError, match=r"is of another run \(init differ\)"):
        train(examples, out, recipe(tiny_model, init=str(tiny_head(hidden=True))))
    with pytest.raises(InputError, match=r"is of another run"):
        train(examples, out, recipe(tiny_model))
    with pytest.raises(InputError, match=r"is of another run \(train differ\); delete .*checkpoint to begin anew"):
        train(examples[:-4], out, recipe(tiny_model))


def pair_texts(tiny_model, max_tokens=30):
    return PairTexts(PairTokenizer(locate(str(tiny_model("bert"))), max_tokens))


def test_pairs_are_numbered_cut_and_grouped_by_their_reference(tiny_model):
    texts = pair_texts(tiny_model, 9)
    rows = [("a cat", "the cat"), ("a dog", "rain"), (" a cat", "the cat "), ("rain", "the cat"), ("a cat " * 4, "a")]
    found = texts.encode([Example({"hyp": hyp, "ref": ref}, -1.0, i) for i, (hyp, ref) in enumerate(rows)])
    assert found.places["both"].tolist() == [0, 1, 0, 2, 3]
    assert found.groups.tolist() == [2, 1, 2, 2, 0]
    assert found.lengths.tolist() == [7, 6, 7, 6, 9]  # three special pieces, and nine at most
    assert "4 distinct pairs, 7.0 tokens each, 1 cut" in texts.summary
    again = texts.encode([Example({"hyp": "a dog", "ref": "rain"}, 0.0, 0)])
    assert (again.places["both"].tolist(), len(texts.ids)) == ([1], 4)


def learner(tiny_model, texts, loss, several=None, **options):
    how = recipe(tiny_model, **options)
    network = crossed_network(how, locate(how.model), 0.25, CPU)
    return CrossedLearner(network, texts, loss, -2.0, 2.0, 0, "float32", several)


def test_the_loss_of_a_batch_is_that_of_its_scores_in_their_groups(tiny_model):
    texts = pair_texts(tiny_model)
    # two hypotheses of one reference, one of another, and the first once more
    rows = [("a cat", "the cat", 0.0), ("rain", "the cat", -6.0), ("snow", "rain", -3.0), ("a cat", "the cat", 0.0)]
    batch = texts.encode([Example({"hyp": hyp, "ref": ref}, score, i) for i, (hyp, ref, score) in enumerate(rows)])
    made = learner(tiny_model, texts, Loss(name="pairwise", margin=4.0))
    outputs = (made.predict(batch) + 2) / 2  # in units of the targets
    assert outputs[0] == outputs[3]
    # "rain" is worse than "a cat", twice; the other reference has one hypothesis alone
    expected = max(0.0, 4.0 / 2 - (outputs[0] - outputs[1]))
    assert made.loss(batch).item() == pytest.approx(expected, abs=1e-5)  # float32
    squared = np.mean((outputs - np.array([1, -2, -0.5, 1])) ** 2)
    plain = learner(tiny_model, texts, Loss())
    assert plain.loss(batch).item() == pytest.approx(squared, abs=1e-5)


def test_parts_on_several_cores_have_the_gradients_of_one_pass(tiny_model, examples):
    texts = pair_texts(tiny_model)
    batch = texts.encode(examples[:24])
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found, said = [], []
        with cores(torch.device("cpu")) as several:
            for how in (several, None):
                made = learner(tiny_model, texts, Loss(), how)
                made.loss(batch).backward()
                found.append({n: p.grad for n, p in made.network.named_parameters() if p.requires_grad})
                said.append(made.predict(batch))
    finally:
        torch.set_num_threads(before)
    assert said[0] == pytest.approx(said[1], abs=1e-5)  # float32, padded to other lengths
    assert found[0].keys() == found[1].keys()
    assert "classifier.bias" in found[0]
    for name, gradient in found[0].items():
        assert torch.allclose(gradient, found[1][name], atol=1e-5), name  # float32: four sums instead of one


@pytest.mark.slow
def test_the_order_alone_can_be_learnt(tiny_model, examples, tmp_path):
    out = tmp_path / "h.safetensors"
    said = train(examples, out, recipe(tiny_model, schedule=LONG, loss=Loss(name="pairwise")))
    assert np.mean(said.losses[-15:]) < 0.6 * np.log(2)  # log 2 by chance
    found = used(out, examples[:40]).reshape(-1, 4)  # four of each reference, the best first
    assert (found[:, 0] > found[:, 3]).mean() > 0.9


def test_a_head_begins_where_an_earlier_one_ended(tiny_model, examples, tmp_path):
    first, second = tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    about = {"trained_on_phenomena": "negation", "criterion": "adequacy", "data": "ratings"}
    train(examples, first, recipe(tiny_model), about=about)
    own = {"trained_on_phenomena": "omission", "data": "triples"}
    train(examples, second, recipe(tiny_model, schedule=STILL, init=str(first)), about=own)
    # The same examples have the same mean and deviation; adapters were kept in float16.
    assert used(second, examples[:20]) == pytest.approx(used(first, examples[:20]), abs=PARITY)
    found = metadata(second)
    assert found["trained_on_phenomena"] == "omission,negation"
    assert (found["criterion"], found["data"]) == ("adequacy", "triples; ratings")
    assert len(found["init"]) == 64  # the digest of the file


@pytest.mark.parametrize("rank", [1, 5])
def test_a_head_begins_from_the_adapters_of_an_nli_head_of_any_rank(tiny_model, tiny_head, examples, tmp_path, rank):
    given, out = tiny_head(), tmp_path / "h.safetensors"
    train(examples, out, recipe(tiny_model, schedule=STILL, init=str(given), rank=rank))
    theirs, ours = load_file(str(given)), load_file(str(out))
    for name in (name.removesuffix(".lora_a") for name in theirs if name.endswith(".lora_a")):
        full, found = (t[f"{name}.lora_b"].float() @ t[f"{name}.lora_a"].float() for t in (theirs, ours))
        left, values, right = torch.linalg.svd(full)
        best = left[:, :rank] * values[:rank] @ right[:rank]  # of rank 2, so the head itself from there on
        assert torch.allclose(found, best, atol=5e-3)  # float16 factors, of products of the size of 1
    assert metadata(out)["trained_on_phenomena"] == "negation,number_error"
    assert "criterion" not in metadata(out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "full"}, "method is 'full', and features 'both' learn by adapters; leave it out, or name"),
        ({"method": "frozen"}, "method is 'frozen', and features 'both' learn by adapters"),
        ({"method": "ridge"}, "method is 'ridge', and features 'both' learn by adapters"),
        ({"layers": (2,)}, r"layers is \(2,\), and features 'both' read the last one; leave it out"),
        ({"layers": "mix"}, "layers is 'mix', and features 'both' read the last one"),
        ({"widths": (8,)}, r"widths is \(8,\), of hidden layers, and features 'both' have none; leave it out"),
        ({"dropout": 0.3}, r"dropout is 0.3, of hidden layers, .*\(encoder_dropout is that of the encoder\)"),
        ({"source": True}, "reads hypothesis and reference in one sequence and no source"),
        ({"source": True, "reference": False}, "reads hypothesis and reference in one sequence and no source"),
        ({"side": "reference"}, "features is 'both', which compares texts, and side 'reference' is one alone"),
        ({"features": "4h", "init": "nli-robust"}, "init is 'nli-robust', a head that features 'both' alone begin"),
        (RIDGE | {"layers": "mix"}, "layers is 'mix', whose weights are learnt; method ridge reads one layer or"),
        (RIDGE | {"method": "frozen"}, r"features is '4h\+match', which only method ridge learns from"),
        (RIDGE | {"features": "match", "layers": (1,)}, r"layers is \(1,\), whose vectors features 'match' does not"),
        (RIDGE | {"features": "2h", "side": "source"}, "features is '2h', which compares texts, and side 'source' is"),
        (RIDGE | {"reference": False, "source": True}, r"features is '4h\+match', which matches a text with its ref"),
        ({"features": "6h"}, "features is '6h', expected 4h, 2h, match, "),
        ({"features": "4h", "method": "qlora"}, "method is 'qlora'; did you mean 'lora'"),
        ({"features": "4h", "dropout": 1.0}, r"dropout is 1.0, expected 0 or more and below 1 \(a share\)"),
        ({"features": "4h", "held_out": -0.1}, r"held_out is -0.1, expected 0 or more and below 1 \(a share\)"),
        ({"features": "4h", "widths": (8, 0)}, r"widths is \(8, 0\), expected 1 or more"),
        ({"features": "4h", "evaluate_every": 0}, "evaluate_every is 0, expected 1 or more"),
        ({"features": "4h", "reference": False}, "nothing to hold a text against"),
    ],
)
def test_recipes_that_make_no_sense_are_refused_by_name(options, message):
    with pytest.raises(InputError, match=message):
        RegressorRecipe(**{"features": "both"} | options)


@pytest.mark.parametrize(
    ("name", "kind", "options", "message"),
    [
        ("folder", "bert", {}, r"folder: features 'both' make a head, which is a file; end the name in \.safetensors"),
        ("h.safetensors", "bert", {"max_tokens": 4}, "max_tokens is 4, expected at least 5"),
        ("h.safetensors", "bert", {"init": "infill"}, "is for infill, expected one for regressor"),
        ("h.safetensors", "bert", {"init": "rated"}, "has features hyp,ref,.*, expected both; begin from a head with"),
        ("h.safetensors", "bert", {"init": "nli"}, "stands on another encoder than .*; begin from one on the same"),
        ("h.safetensors", "bert", {"init": "absent.safetensors"}, "absent.safetensors: no such file"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(tiny_model, examples, tmp_path, name, kind, options, message):
    with pytest.raises(InputError, match=message) as refused:
        train(examples, tmp_path / name, recipe(tiny_model, kind, **options))
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_head_of_other_units_is_refused(tiny_model, tiny_head, examples, tmp_path):
    about = {"kind": "regressor", "features": "both", "labels": None, "target_mean": "0.0", "target_sd": "1.0"}
    with pytest.raises(InputError, match="learnt scores as they are; begin from it with standardise off"):
        train(examples, tmp_path / "h.safetensors", recipe(tiny_model, init=str(tiny_head(outputs=1, **about))))
    about |= {"target_sd": "2.0"}
    how = recipe(tiny_model, init=str(tiny_head(outputs=1, **about)), standardise=False)
    with pytest.raises(InputError, match="learnt standardised scores; begin from it with standardise on"):
        train(examples, tmp_path / "h.safetensors", how)
    how = recipe(tiny_model, init=str(tiny_head(outputs=3, **about)))
    with pytest.raises(InputError, match=r"has shape \(3, 64\) for classifier.weight, expected shape \(1, 64\)"):
        train(examples, tmp_path / "h.safetensors", how)


@pytest.mark.slow
def test_bfloat16_learns_too(tiny_model, examples, tmp_path):
    said = train(
        examples, tmp_path / "h.safetensors", recipe(tiny_model, schedule=LONG), replace(CPU, dtype="bfloat16")
    )
    assert np.mean(said.losses[-15:]) < 0.6 * np.mean(said.losses[:15])


# --- Heads of ridge regression: what they say is the weighted sum of their features, however it is asked

WORDS = "the cat sat on a mat and it rains in the north until noon today".split()


@pytest.fixture(scope="module")
def ridge_examples():
    """Forty texts that lose words of their reference; the score is the share that is left."""
    rng, found = np.random.default_rng(5), []
    for owner in range(40):
        reference = [WORDS[i] for i in rng.integers(0, len(WORDS), 8)]
        kept = [word for word in reference if rng.random() < 0.7] or reference[:1]
        found.append(Example({"hyp": " ".join(kept), "ref": " ".join(reference)}, len(kept) / 8, owner))
    return found


def fitted(examples, output, how, **options):
    return regressor.train_ridge(examples, str(output), how, CPU, **options)


def ridge_recipe(tiny_model, features="4h+match", **options):
    layers = {} if features == MATCH else {"layers": (1,)}
    options = {"max_tokens": 20} | layers | options
    return RegressorRecipe(model=str(tiny_model("bert")), method="ridge", features=features, **options)


@pytest.mark.parametrize("features", ["4h", "2h", MATCH, "4h+match"])
def test_a_head_says_what_the_regression_predicts(ridge_examples, tiny_model, tmp_path, monkeypatch, features):
    seen = {}

    def fit(x, y, strength):
        seen.update(features=x, fit=linear.ridge(x, y, strength))
        return seen["fit"]

    monkeypatch.setattr(regressor, "ridge", fit)
    head = tmp_path / "head.safetensors"
    outcome = fitted(ridge_examples, head, ridge_recipe(tiny_model, features))
    scores = np.array([e.score for e in ridge_examples])
    predicted = seen["features"] @ seen["fit"][0] + scores.mean()
    np.testing.assert_allclose(
        scores_of(head, ridge_examples), predicted, atol=1e-4
    )  # weights in float32, features of size 10
    assert outcome[0] == seen["fit"][1]
    assert outcome[1] == pytest.approx(np.corrcoef(seen["fit"][2], scores)[0, 1])
    if features.endswith(MATCH):
        assert outcome[1] > 0.6  # lengths alone tell much of it


def test_what_is_not_trained_stands_beside_what_is_learnt(ridge_examples, tiny_model, tmp_path, monkeypatch):
    seen = {}

    def fit(x, y, strength):
        seen["F"] = x[:, MATCHED.index("F")]
        return linear.ridge(x, y, strength)

    monkeypatch.setattr(regressor, "ridge", fit)
    said = {}
    for share in (0.0, 0.5, 1000.0):
        head = tmp_path / f"{share}.safetensors"
        how = ridge_recipe(tiny_model, MATCH)
        fitted(ridge_examples, head, how, strength=0.1, untrained=share)
        said[share] = scores_of(head, ridge_examples)
    f = seen["F"] / seen["F"].std()
    both = said[0.0] / said[0.0].std() + 0.5 * f
    assert np.corrcoef(said[0.5], both)[0, 1] == pytest.approx(1, abs=1e-5)  # weights are float32
    assert np.corrcoef(said[1000.0], f)[0, 1] == pytest.approx(1, abs=1e-5)
    scores = np.array([e.score for e in ridge_examples])
    assert np.polyfit(said[0.5], scores, 1) == pytest.approx([1, 0], abs=1e-3)  # on the scale of the scores
    with pytest.raises(InputError, match="untrained is 1, and features are hyp"):
        fitted(ridge_examples, head, ridge_recipe(tiny_model, "4h"), untrained=1)


def test_the_head_is_small_and_says_how_it_was_made(ridge_examples, tiny_model, tmp_path):
    head = tmp_path / "head.safetensors"
    fitted(ridge_examples, head, ridge_recipe(tiny_model), about={"name": "mine"})
    with safe_open(str(head), framework="pt") as file:
        about = file.metadata()
        assert file.get_tensor("out.weight").shape == (1, 4 * 32 + 19)
    expected = {"method": "ridge", "features": "hyp,ref,hyp*ref,|hyp-ref|,match", "layers": "1", "match_layer": "2"}
    assert {name: about[name] for name in expected} == expected
    assert (about["name"], about["widths"], about["kind"], about["high"]) == ("mine", "", "regressor", "1")


def test_what_cannot_be_fitted_is_refused(ridge_examples, tiny_model, tmp_path):
    for wrong, message in (
        (ridge_examples[:2], "2 examples with equal scores or too few, expected three that differ, or more"),
        ([e._replace(score=1.0) for e in ridge_examples], "40 examples with equal scores"),
    ):
        with pytest.raises(InputError, match=message):
            fitted(wrong, tmp_path / "h.safetensors", ridge_recipe(tiny_model))
    with pytest.raises(InputError, match=r"name a head, \.safetensors"):
        fitted(ridge_examples, tmp_path / "folder", ridge_recipe(tiny_model))
    with pytest.raises(InputError, match="method is 'ridge', which train_ridge fits: it takes no steps"):
        train(ridge_examples, tmp_path / "h.safetensors", ridge_recipe(tiny_model))
    assert not list(tmp_path.glob("*.safetensors"))


# --- Regressors trained on a signal that a tiny model can learn: heads and folders, stopped and taken up again

FAST = Schedule(epochs=12, batch_size=16, learning_rate=0.005, seed=3)
TWICE = replace(FAST, epochs=2)  # of 60 references 57 are learnt from: 228 examples, 30 steps
STEEP = Schedule(epochs=4, batch_size=16, learning_rate=0.02, seed=3)


def apart_recipe(tiny_model, kind="bert", schedule=TWICE, **options):
    return RegressorRecipe(
        model=str(tiny_model(kind)), rank=4, alpha=8.0, widths=(16, 8), max_tokens=20, schedule=schedule, **options
    )


def scores_of(model, examples):
    columns = {name: [e.texts[name] for e in examples] for name in examples[0].texts}
    return load_regressor(str(model), "float32", CPU).score(columns).values


def test_the_mean_over_a_masked_batch_is_that_of_each_text(tiny_model):
    from transformers import AutoModel

    files = locate(str(tiny_model("bert")))
    texts = ExampleTexts(TextTokenizer(files, 20, space=False))
    encoded = texts.encode([Example({"hyp": "the cat sat on the mat", "ref": "rain"}, 0.0, 0)])
    encoder = AutoModel.from_pretrained(str(files.folder), add_pooling_layer=False).eval()
    network = RegressorNetwork(encoder, (1, 3), False, ("hyp", "ref"), 32, (4,), 0.0)
    learner = Learner(network, texts, Loss(), 0.0, 1.0, 0, "float32")
    with torch.no_grad():
        found = learner._means(np.array([0, 1]))  # padded together
        for number, ids in enumerate(texts.ids):
            states = encoder(input_ids=torch.from_numpy(ids)[None], output_hidden_states=True).hidden_states
            for column, layer in enumerate((1, 3)):
                assert torch.allclose(
                    found[number, column], states[layer][0].mean(0), atol=1e-5
                )  # special tokens count; float32 sums
    assert encoded.places["hyp"].tolist() == [0]


@pytest.mark.parametrize("method", ["frozen", pytest.param("lora", marks=pytest.mark.slow)])
def test_a_head_learns_and_says_the_same_when_it_is_used(tiny_model, examples, tmp_path, method):
    out = tmp_path / "head.safetensors"
    how = apart_recipe(tiny_model, schedule=FAST, method=method, standardise=True)
    said = train(examples, out, how, about={"name": "tiny", "high": "0"})
    step, tau = said.best
    assert tau > 0.5  # 0 by chance
    assert said.evaluated[step] == tau == max(said.evaluated.values())
    assert np.corrcoef(scores_of(out, examples), [e.score for e in examples])[0, 1] > 0.7
    assert [p.name for p in tmp_path.iterdir()] == ["head.safetensors"]  # no checkpoint is left
    about = metadata(out)
    expected = {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "regressor",
        "name": "tiny",
        "method": method,
        "layers": "3",
        "widths": "16,8",
        "features": "hyp,ref,hyp*ref,|hyp-ref|",
        "max_tokens": "20",
        "low": "-6",
        "high": "0",
        "loss": "mse",
    }
    assert {key: about[key] for key in expected} == expected
    assert ("rank" in about) == (method == "lora")


OPTIONS = [
    {"method": "lora", "layers": "mix"},
    {"method": "frozen", "layers": (2,), "features": "2h"},
    {"method": "frozen", "standardise": False, "loss": Loss(name="mse+pairwise")},
    *(
        pytest.param(options, marks=pytest.mark.slow)
        for options in (
            {"method": "lora"},
            {"method": "lora", "layers": (1, 2)},
            {"method": "frozen", "layers": "mix"},
            {"method": "lora", "standardise": False, "loss": Loss(name="mse+pairwise")},
        )
    ),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_metric_says_what_the_network_said_in_training(tiny_model, examples, tmp_path, options):
    out, tested = tmp_path / "h.safetensors", examples[:40]
    dev = spied(tested)
    how = apart_recipe(tiny_model, evaluate_every=10**6, **{"schedule": STEEP, "standardise": True} | options)
    train(examples[:120], out, how, dev=dev)
    found = scores_of(out, tested)
    assert np.ptp(found) > 0.1  # not one number for all
    assert found == pytest.approx(dev.seen[-1], abs=PARITY)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "method"), [("bert", "lora"), ("xlm-roberta", "full"), ("distilbert", "full")])
def test_a_folder_holds_the_whole_encoder(tiny_model, examples, tmp_path, kind, method):
    out = tmp_path / "model"
    how = apart_recipe(tiny_model, kind, FAST, method=method, standardise=True, layers=(2,) if kind == "bert" else ())
    said = train(examples, out, how)
    assert said.best[1] > 0.4  # 0 by chance
    assert {"config.json", "model.safetensors", "regressor.safetensors", "regressor.json"} <= {
        p.name for p in out.iterdir()
    }
    assert json.loads((out / "regressor.json").read_text()) == metadata(out / "regressor.safetensors")
    assert json.loads((out / "config.json").read_text()).get("num_hidden_layers", 3) == (2 if kind == "bert" else 3)
    assert np.corrcoef(scores_of(out, examples), [e.score for e in examples])[0, 1] > 0.6
    moved = out.rename(tmp_path / "elsewhere")  # a folder knows its encoder wherever it is put
    assert len(scores_of(moved, examples[:2])) == 2


def test_the_weights_of_the_best_evaluation_are_kept(tiny_model, examples, tmp_path):
    values = iter([0.1, 0.9, 0.2])

    class Told(Dev):
        def measure(self, scores, owners):
            value = next(values)
            if value == 0.9:
                kept.append(scores)
            return value

    kept = []
    out = tmp_path / "h.safetensors"
    how = apart_recipe(tiny_model, method="frozen", evaluate_every=12)
    said = train(examples, out, how, dev=Told("told", examples[:20]))
    assert said.best == (24, 0.9)
    assert scores_of(out, examples[:20]) == pytest.approx(kept[0], abs=PARITY)


def test_without_a_development_set_the_last_weights_are_kept(tiny_model, examples, tmp_path):
    said = train(examples, tmp_path / "h.safetensors", apart_recipe(tiny_model, method="frozen", held_out=0.0))
    assert (said.n, said.best, said.evaluated, len(said.losses)) == (240, None, {}, 30)


def test_source_and_reference_are_read_as_the_head_says(tiny_model, examples, tmp_path):
    with_source = [e._replace(texts={**e.texts, "src": e.texts["ref"]}) for e in examples]
    alone = [e._replace(texts={"hyp": e.texts["hyp"], "src": e.texts["ref"]}) for e in examples]
    both, source = tmp_path / "both.safetensors", tmp_path / "source.safetensors"
    train(with_source, both, apart_recipe(tiny_model, method="frozen", source=True))
    train(alone, source, apart_recipe(tiny_model, method="frozen", source=True, reference=False))
    assert metadata(both)["features"] == "hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|"
    assert metadata(source)["features"] == "hyp,src,hyp*src,|hyp-src|"
    assert len(scores_of(both, with_source)) == len(scores_of(source, alone)) == 240


def test_the_pairwise_loss_by_hand():
    scores, targets = torch.tensor([1.0, 0.0, 5.0, 2.0]), torch.tensor([0.0, -1.0, -1.0, -1.0])
    groups = torch.tensor([0, 0, 0, 1])
    # better, worse: (0, 1) leads by 1, (0, 2) by -4; 1 and 2 are equal, 3 stands alone
    logistic = (np.log1p(np.exp(-1)) + np.log1p(np.exp(4))) / 2
    assert Loss(name="pairwise").of(scores, targets, groups).item() == pytest.approx(logistic, abs=1e-6)  # float32
    assert Loss(name="pairwise", margin=2.0).of(scores, targets, groups).item() == pytest.approx((1 + 6) / 2)
    assert Loss(name="pairwise", margin=4.0).of(scores, targets, groups, 0.5).item() == pytest.approx(
        (1 + 6) / 2
    )  # two of the targets' units
    squared = (1 + 1 + 36 + 9) / 4
    assert Loss().of(scores, targets, groups).item() == pytest.approx(squared)
    both = Loss(name="mse+pairwise", margin=2.0).of(scores, targets, groups).item()
    assert both == pytest.approx(squared + 3.5)
    for wrong in ({"name": "mae"}, {"margin": 0.0}):
        with pytest.raises(InputError, match=f"{'loss' if 'name' in wrong else 'margin'} is"):
            Loss(**wrong)
    # a batch without pairs teaches no order
    scores = torch.tensor([1.0, 0.0], requires_grad=True)
    value = Loss(name="pairwise").of(scores, torch.tensor([0.0, -1.0]), torch.tensor([0, 1]))
    value.backward()
    assert (value.item(), scores.grad.tolist()) == (0.0, [0.0, 0.0])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("h.safetensors", {"method": "full"}, "a head holds adapters, method full changes everything"),
        ("folder", {"method": "frozen"}, "a frozen encoder need not be written again"),
        ("h.safetensors", {"layers": (4,)}, "layer is 4, but model .* has layers 0 to 3"),
        ("nowhere/h.safetensors", {}, "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_learnt(
    tiny_model, examples, tmp_path, name, options, message
):
    with pytest.raises(InputError, match=message):
        train(examples, tmp_path / name, apart_recipe(tiny_model, **options))
    assert list(tmp_path.iterdir()) == []


def test_families_that_cannot_carry_adapters_are_named(tiny_model, examples, tmp_path):
    with pytest.raises(InputError, match="a head is made for encoders of type bert or mpnet"):
        train(examples, tmp_path / "h.safetensors", apart_recipe(tiny_model, "distilbert"))
    with pytest.raises(InputError, match="is an encoder-decoder, expected an encoder"):
        train(examples, tmp_path / "folder", apart_recipe(tiny_model, "bart", method="full"))
    with pytest.raises(InputError, match="only the last layer"):
        train(examples, tmp_path / "folder", apart_recipe(tiny_model, "distilbert", method="full", layers=(1,)))
    # GPT-2 norms what its last layer gives, and a model that is cut below norms what another gives
    with pytest.raises(InputError, match=r"layer is 1: of .*, only the last layer \(3\) can be trained"):
        whole_encoder(locate(str(tiny_model("gpt2"))), 0.0, [1, 3])
    assert whole_encoder(locate(str(tiny_model("mpnet"))), 0.0, [1, 3]) is not None


def test_a_frozen_encoder_of_any_family_carries_a_head(tiny_model, examples, tmp_path):
    out = tmp_path / "h.safetensors"
    train(examples, out, apart_recipe(tiny_model, "distilbert", method="frozen"))
    assert len(scores_of(out, examples[:3])) == 3
    assert not [name for name in load_file(str(out)) if "lora" in name]


@pytest.mark.parametrize("kind", ["xlm", "gpt2", "mpnet", "deberta", "deberta-v2"])
def test_what_learns_is_what_scores_in_every_family(tiny_model, kind):
    # XLM and GPT-2 add a word for type 0, which no text has when the regressor is used
    files = locate(str(tiny_model(kind)))
    ids = [t.ids for t in TextTokenizer(files, space=False).tokens(["the cat sat", "a dog"])]
    network = RegressorNetwork(whole_encoder(files, 0.0, [3]).eval(), (3,), False, ("hyp",), 32, (4,), 0.0)
    used = mean_vectors(load_encoder(files.name, None, "float32", CPU).network, ids, [3])
    with torch.inference_mode():
        learnt = network.means(**padded(ids, None, pad_of(files), torch.device("cpu")))
    assert torch.allclose(learnt, used, atol=1e-5)  # float32, with padding and without


def test_a_checkpoint_of_another_choice_of_weights_is_refused(tiny_model, examples, tmp_path, monkeypatch):
    how = apart_recipe(tiny_model, method="frozen", evaluate_every=1)

    def run(threshold):
        dev = Dev("d", examples[:40], "wmt_kendall_like", items=lambda owner: owner // 4, threshold=threshold)
        train(examples, tmp_path / "h.safetensors", how, dev=dev)

    monkeypatch.setattr("nlgauge.training.regressor.save_regressor", stop)
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 5)
    with pytest.raises(KeyboardInterrupt):
        run(0.0)
    with pytest.raises(InputError, match=r"is of another run \(dev_choice differ\)"):
        run(3.0)


def stop(*args):
    raise KeyboardInterrupt
