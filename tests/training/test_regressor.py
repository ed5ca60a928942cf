"""Regressors trained on a signal that a tiny model can learn: heads and folders, stopped and taken up again."""

import importlib.util
import json
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.encoder import load_encoder
from nlgauge.models.locate import locate
from nlgauge.models.matching import mean_vectors
from nlgauge.models.regressor import load_regressor
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.classifier import pad_of, padded
from nlgauge.training.dev import Dev
from nlgauge.training.examples import Example, Texts, read_triples
from nlgauge.training.learner import Learner
from nlgauge.training.network import RegressorNetwork
from nlgauge.training.recipe import Loss, RegressorRecipe, Schedule
from nlgauge.training.regressor import train_regressor
from nlgauge.training.regressor_files import whole_encoder

_spec = importlib.util.spec_from_file_location("scored", Path(__file__).with_name("scored.py"))
scored = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(scored)

FAST = Schedule(epochs=12, batch_size=16, learning_rate=0.005, seed=3)
SHORT = Schedule(
    epochs=2, batch_size=16, learning_rate=0.005, seed=3
)  # of 60 references 57 are learnt from: 228 examples, 30 steps
STEEP = Schedule(epochs=4, batch_size=16, learning_rate=0.02, seed=3)
PARITY = 2e-3  # float16 holds an adapter to 2^-11 of its size; scores are of the size of 5


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return read_triples(InputFile(str(scored.write(tmp_path_factory.mktemp("triples") / "t.jsonl", scored.triples()))))


def recipe(tiny_model, kind="bert", schedule=SHORT, **options):
    return RegressorRecipe(
        model=str(tiny_model(kind)), rank=4, alpha=8.0, widths=(16, 8), max_tokens=20, schedule=schedule, **options
    )


def train(examples, output, how, dtype="float32", **options):
    return train_regressor(
        examples, str(output), how, options.pop("runtime", Runtime(device="cpu", dtype=dtype)), **options
    )


def used(model, examples):
    columns = {name: [e.texts[name] for e in examples] for name in examples[0].texts}
    return load_regressor(str(model), "float32", Runtime(device="cpu")).score(columns).values


def metadata(path):
    with safe_open(str(path), framework="pt") as file:
        return file.metadata()


def test_the_mean_over_a_masked_batch_is_that_of_each_text(tiny_model):
    from transformers import AutoModel

    files = locate(str(tiny_model("bert")))
    texts = Texts(TextTokenizer(files, 20, space=False))
    encoded = texts.encode([Example({"hyp": "the cat sat on the mat", "ref": "rain"}, 0.0, 0)])
    encoder = AutoModel.from_pretrained(str(files.folder), add_pooling_layer=False).eval()
    network = RegressorNetwork(encoder, (1, 3), False, ("hyp", "ref"), 32, (4,), 0.0)
    learner = Learner(network, texts, None, Loss(), 0.0, 1.0, 0, "float32")
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
    how = recipe(tiny_model, schedule=FAST, method=method, standardise=True)
    said = train(examples, out, how, about={"name": "tiny", "high": "0"})
    step, tau = said.best
    assert tau > 0.5  # 0 by chance
    assert said.evaluated[step] == tau == max(said.evaluated.values())
    assert np.corrcoef(used(out, examples), [e.score for e in examples])[0, 1] > 0.7
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
    seen = {}

    class Spy(Dev):
        def measure(self, scores, owners):
            seen["scores"] = scores
            return 0.0  # there is one evaluation, at the end

    tested = examples[:40]
    out = tmp_path / "h.safetensors"
    train(
        examples,
        out,
        recipe(tiny_model, evaluate_every=10**6, **{"schedule": STEEP, "standardise": True} | options),
        dev=Spy("spy", tested),
    )
    found = used(out, tested)
    assert np.ptp(found) > 0.1  # not one number for all
    assert found == pytest.approx(seen["scores"], abs=PARITY)


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        pytest.param("bert", "lora", marks=pytest.mark.slow),
        pytest.param("xlm-roberta", "full", marks=pytest.mark.slow),
        pytest.param("bert", "full", marks=pytest.mark.slow),
        pytest.param("distilbert", "full", marks=pytest.mark.slow),
    ],
)
def test_a_folder_holds_the_whole_encoder(tiny_model, examples, tmp_path, kind, method):
    out = tmp_path / "model"
    how = recipe(tiny_model, kind, FAST, method=method, standardise=True, layers=(2,) if kind == "bert" else ())
    said = train(examples, out, how)
    assert said.best[1] > 0.4  # 0 by chance
    assert {"config.json", "model.safetensors", "regressor.safetensors", "regressor.json"} <= {
        p.name for p in out.iterdir()
    }
    assert json.loads((out / "regressor.json").read_text()) == metadata(out / "regressor.safetensors")
    assert json.loads((out / "config.json").read_text()).get("num_hidden_layers", 3) == (2 if kind == "bert" else 3)
    assert np.corrcoef(used(out, examples), [e.score for e in examples])[0, 1] > 0.6
    moved = out.rename(tmp_path / "elsewhere")  # a folder knows its encoder wherever it is put
    assert len(used(moved, examples[:2])) == 2


@contextmanager
def killed_after(steps):
    done = []

    def advance(count):
        done.append(count)
        if sum(done) == steps:
            raise KeyboardInterrupt

    yield advance


@pytest.mark.parametrize("method", ["frozen", pytest.param("lora", marks=pytest.mark.slow)])
def test_a_run_that_was_stopped_goes_on_to_the_same_curve_and_weights(
    tiny_model, examples, tmp_path, monkeypatch, method
):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 7)
    how = recipe(tiny_model, method=method, evaluate_every=4)

    def stopping(total, label):
        return killed_after(17 if label == "steps" else -1)

    whole = train(examples, tmp_path / "whole.safetensors", how, curve=str(tmp_path / "whole.tsv"))
    with pytest.raises(KeyboardInterrupt):
        train(
            examples,
            tmp_path / "again.safetensors",
            how,
            runtime=Runtime(device="cpu", dtype="float32", progress=stopping),
        )
    assert (tmp_path / "again.safetensors.checkpoint").exists()
    assert not (tmp_path / "again.safetensors").exists()
    again = train(examples, tmp_path / "again.safetensors", how, curve=str(tmp_path / "again.tsv"))
    assert again == whole  # losses, evaluations and the best of them, to the last bit
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()
    assert not (tmp_path / "again.safetensors.checkpoint").exists()


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
    said = train(examples, out, recipe(tiny_model, method="frozen", evaluate_every=12), dev=Told("told", examples[:20]))
    assert said.best == (24, 0.9)
    assert used(out, examples[:20]) == pytest.approx(kept[0], abs=PARITY)


def test_without_a_development_set_the_last_weights_are_kept(tiny_model, examples, tmp_path):
    said = train(examples, tmp_path / "h.safetensors", recipe(tiny_model, method="frozen", held_out=0.0))
    assert (said.n, said.best, said.evaluated, len(said.losses)) == (240, None, {}, 30)


def test_source_and_reference_are_read_as_the_head_says(tiny_model, examples, tmp_path):
    with_source = [e._replace(texts={**e.texts, "src": e.texts["ref"]}) for e in examples]
    alone = [e._replace(texts={"hyp": e.texts["hyp"], "src": e.texts["ref"]}) for e in examples]
    both, source = tmp_path / "both.safetensors", tmp_path / "source.safetensors"
    train(with_source, both, recipe(tiny_model, method="frozen", source=True))
    train(alone, source, recipe(tiny_model, method="frozen", source=True, reference=False))
    assert metadata(both)["features"] == "hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|"
    assert metadata(source)["features"] == "hyp,src,hyp*src,|hyp-src|"
    assert len(used(both, with_source)) == len(used(source, alone)) == 240


@pytest.mark.slow
def test_bfloat16_learns_too(tiny_model, examples, tmp_path):
    said = train(examples, tmp_path / "h.safetensors", recipe(tiny_model, schedule=FAST, standardise=True), "bfloat16")
    assert said.best[1] > 0.4  # 0 by chance


@pytest.mark.slow
def test_the_order_alone_can_be_learnt(tiny_model, examples, tmp_path):
    said = train(examples, tmp_path / "h.safetensors", recipe(tiny_model, schedule=FAST, loss=Loss(name="pairwise")))
    assert said.best[1] > 0.5  # 0 by chance


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
    assert Loss(name="mse+pairwise", margin=2.0, weight=3.0).of(scores, targets, groups).item() == pytest.approx(
        squared + 3 * 3.5
    )


def test_a_batch_without_pairs_teaches_no_order():
    scores = torch.tensor([1.0, 0.0], requires_grad=True)
    value = Loss(name="pairwise").of(scores, torch.tensor([0.0, -1.0]), torch.tensor([0, 1]))
    value.backward()
    assert (value.item(), scores.grad.tolist()) == (0.0, [0.0, 0.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "qlora"}, "method is 'qlora'; did you mean 'lora'"),
        ({"features": "6h"}, "features is '6h', expected 4h, 2h, match, "),
        ({"dropout": 1.0}, r"dropout is 1.0, expected 0 or more and below 1 \(a share\)"),
        ({"held_out": -0.1}, r"held_out is -0.1, expected 0 or more and below 1 \(a share\)"),
        ({"widths": (8, 0)}, r"widths is \(8, 0\), expected 1 or more"),
        ({"evaluate_every": 0}, "evaluate_every is 0, expected 1 or more"),
        ({"reference": False}, "nothing to hold a text against"),
    ],
)
def test_recipes_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(InputError, match=message):
        RegressorRecipe(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "mae"}, "loss is 'mae'"),
        ({"margin": 0.0}, "margin is 0.0"),
        ({"weight": -1.0}, "weight of the pairwise loss is -1.0"),
    ],
)
def test_losses_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(InputError, match=message):
        Loss(**options)


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
        train(examples, tmp_path / name, recipe(tiny_model, **options))
    assert list(tmp_path.iterdir()) == []


def test_families_that_cannot_carry_adapters_are_named(tiny_model, examples, tmp_path):
    with pytest.raises(InputError, match="a head is made for encoders of type bert or mpnet"):
        train(examples, tmp_path / "h.safetensors", recipe(tiny_model, "distilbert"))
    with pytest.raises(InputError, match="is an encoder-decoder, expected an encoder"):
        train(examples, tmp_path / "folder", recipe(tiny_model, "bart", method="full"))
    with pytest.raises(InputError, match="only the last layer"):
        train(examples, tmp_path / "folder", recipe(tiny_model, "distilbert", method="full", layers=(1,)))


def test_a_frozen_encoder_of_any_family_carries_a_head(tiny_model, examples, tmp_path):
    out = tmp_path / "h.safetensors"
    train(examples, out, recipe(tiny_model, "distilbert", method="frozen"))
    assert len(used(out, examples[:3])) == 3
    assert not [name for name in load_file(str(out)) if "lora" in name]


def test_a_checkpoint_of_other_examples_is_refused(tiny_model, examples, tmp_path, monkeypatch):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 3)
    stopping = Runtime(device="cpu", progress=lambda total, label: killed_after(5))
    with pytest.raises(KeyboardInterrupt):
        train(examples, tmp_path / "h.safetensors", recipe(tiny_model), runtime=stopping)
    with pytest.raises(InputError, match=r"is of another run \(train differ\); delete .*checkpoint to begin anew"):
        train(examples[:-4], tmp_path / "h.safetensors", recipe(tiny_model))


@pytest.mark.parametrize("kind", ["xlm", "gpt2", "mpnet", "deberta", "deberta-v2"])
def test_what_learns_is_what_scores_in_every_family(tiny_model, kind):
    # XLM and GPT-2 add a word for type 0, which no text has when the regressor is used
    files = locate(str(tiny_model(kind)))
    ids = [t.ids for t in TextTokenizer(files, space=False).tokens(["the cat sat", "a dog"])]
    network = RegressorNetwork(whole_encoder(files, 0.0, [3]).eval(), (3,), False, ("hyp",), 32, (4,), 0.0)
    used = mean_vectors(load_encoder(files.name, None, "float32", Runtime(device="cpu")).network, ids, [3])
    with torch.inference_mode():
        learnt = network.means(**padded(ids, None, pad_of(files), torch.device("cpu")))
    assert torch.allclose(learnt, used, atol=1e-5)  # float32, with padding and without


def test_lower_layers_that_are_others_in_use_are_not_trained(tiny_model):
    with pytest.raises(InputError, match=r"layer is 1: of .*, which norms what its last layer gives, only this one"):
        whole_encoder(locate(str(tiny_model("gpt2"))), 0.0, [1, 3])
    assert whole_encoder(locate(str(tiny_model("mpnet"))), 0.0, [1, 3]) is not None


def test_a_checkpoint_of_another_choice_of_weights_is_refused(tiny_model, examples, tmp_path, monkeypatch):
    how = recipe(tiny_model, method="frozen", evaluate_every=1)

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
