"""Regressors that read both texts in one sequence, trained on a signal that a tiny model can learn."""

import importlib.util
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

import torch
from safetensors import safe_open
from safetensors.torch import load_file

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.crossed import CrossedLearner, PairTexts, crossed_network
from nlgauge.training.dev import Dev
from nlgauge.training.examples import Example, read_triples
from nlgauge.training.parallel import cores
from nlgauge.training.recipe import Loss, RegressorRecipe, Schedule
from nlgauge.training.regressor import train_regressor

_spec = importlib.util.spec_from_file_location("scored", Path(__file__).with_name("scored.py"))
scored = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(scored)

SHORT = Schedule(epochs=1, batch_size=16, learning_rate=0.005, seed=3)  # 15 steps of 240 examples
LONG = Schedule(epochs=6, batch_size=16, learning_rate=0.01, seed=3)
STILL = Schedule(epochs=1, batch_size=240, learning_rate=1e-12, seed=3)  # one step that moves nothing
PARITY = 2e-3  # float16 holds an adapter to 2^-11 of its size; scores are of the size of 5
CPU = Runtime(device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return read_triples(InputFile(str(scored.write(tmp_path_factory.mktemp("triples") / "t.jsonl", scored.triples()))))


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


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
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


@contextmanager
def killed_after(steps):
    done = []

    def advance(count):
        done.append(count)
        if sum(done) == steps:
            raise KeyboardInterrupt

    yield advance


def stopping(steps):
    return replace(CPU, progress=lambda total, label: killed_after(steps if label == "steps" else -1))


def test_a_run_that_was_stopped_goes_on_to_the_same_curve_and_weights(tiny_model, examples, tmp_path, monkeypatch):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 4)
    how = recipe(tiny_model, evaluate_every=5, held_out=0.1, loss=Loss(name="mse+pairwise"), encoder_dropout=0.1)
    whole = train(examples, tmp_path / "whole.safetensors", how, curve=str(tmp_path / "whole.tsv"))
    assert len(whole.evaluated) > 1
    with pytest.raises(KeyboardInterrupt):
        train(examples, tmp_path / "again.safetensors", how, stopping(10))
    assert (tmp_path / "again.safetensors.checkpoint").exists()
    again = train(examples, tmp_path / "again.safetensors", how, curve=str(tmp_path / "again.tsv"))
    assert again == whole  # losses, evaluations and the best of them, to the last bit
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


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


@pytest.mark.parametrize("rank", [1, 2, 5])
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
        ({"match_layer": 2}, "match_layer is 2, and features 'both' matches nothing"),
        ({"source": True}, "reads hypothesis and reference in one sequence and no source"),
        ({"source": True, "reference": False}, "reads hypothesis and reference in one sequence and no source"),
        ({"side": "reference"}, "features is 'both', which compares texts, and side 'reference' is one alone"),
        ({"features": "4h", "init": "nli-robust"}, "init is 'nli-robust', a head that features 'both' alone begin"),
    ],
)
def test_recipes_that_make_no_sense_are_refused_by_name(options, message):
    with pytest.raises(InputError, match=message):
        RegressorRecipe(**{"features": "both"} | options)


@pytest.mark.parametrize(
    ("name", "kind", "options", "message"),
    [
        ("folder", "bert", {}, r"folder: features 'both' make a head, which is a file; end the name in \.safetensors"),
        ("h.safetensors", "distilbert", {}, "a head is made for encoders of type bert or mpnet"),
        ("h.safetensors", "bert", {"max_tokens": 4}, "max_tokens is 4, expected at least 5"),
        ("h.safetensors", "bert", {"init": "spans"}, "is for spans, expected one for regressor"),
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
