"""Heads of ridge regression: what they say is the weighted sum of their features, however it is asked."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from safetensors import safe_open  # noqa: E402

import nlgauge as ng  # noqa: E402
from nlgauge.core.errors import InputError  # noqa: E402
from nlgauge.models.encoder import MATCH, MATCHED  # noqa: E402
from nlgauge.models.regressor import load_regressor  # noqa: E402
from nlgauge.runtime.runtime import Runtime  # noqa: E402
from nlgauge.training import linear, ridge  # noqa: E402
from nlgauge.training.examples import Example  # noqa: E402
from nlgauge.training.recipe import RegressorRecipe  # noqa: E402

WORDS = "the cat sat on a mat and it rains in the north until noon today".split()


@pytest.fixture(scope="module")
def examples():
    """Forty texts that lose words of their reference; the score is the share that is left."""
    rng, found = np.random.default_rng(5), []
    for owner in range(40):
        reference = [WORDS[i] for i in rng.integers(0, len(WORDS), 8)]
        kept = [word for word in reference if rng.random() < 0.7] or reference[:1]
        found.append(Example({"hyp": " ".join(kept), "ref": " ".join(reference)}, len(kept) / 8, owner))
    return found


def recipe(tiny_model, features="4h+match", **options):
    matched = {"match_layer": 2} if MATCH in features else {}
    layers = {} if features == MATCH else {"layers": (1,)}
    options = {"max_tokens": 20} | layers | matched | options
    return RegressorRecipe(model=str(tiny_model("bert")), method="ridge", features=features, **options)


def asked(model, examples):
    columns = {name: [e.texts[name] for e in examples] for name in ("hyp", "ref")}
    return load_regressor(str(model), "float32", Runtime(device="cpu")).score(columns).values


@pytest.mark.parametrize("features", ["4h", "2h", MATCH, "4h+match"])
def test_a_head_says_what_the_regression_predicts(examples, tiny_model, tmp_path, monkeypatch, features):
    seen = {}

    def fit(x, y, strength):
        seen.update(features=x, fit=linear.ridge(x, y, strength))
        return seen["fit"]

    monkeypatch.setattr(ridge, "ridge", fit)
    head = tmp_path / "head.safetensors"
    outcome = ridge.train_ridge(examples, str(head), recipe(tiny_model, features), Runtime(device="cpu"))
    scores = np.array([e.score for e in examples])
    predicted = seen["features"] @ seen["fit"][0] + scores.mean()
    np.testing.assert_allclose(asked(head, examples), predicted, atol=1e-4)  # weights in float32, features of size 10
    assert (outcome.n, outcome.strength) == (40, seen["fit"][1])
    assert outcome.agreement == pytest.approx(np.corrcoef(seen["fit"][2], scores)[0, 1])
    if features.endswith(MATCH):
        assert outcome.agreement > 0.6  # lengths alone tell much of it


def test_what_is_not_trained_stands_beside_what_is_learnt(examples, tiny_model, tmp_path, monkeypatch):
    seen = {}

    def fit(x, y, strength):
        seen["F"] = x[:, MATCHED.index("F")]
        return linear.ridge(x, y, strength)

    monkeypatch.setattr(ridge, "ridge", fit)
    said = {}
    for share in (0.0, 0.5, 1000.0):
        head = tmp_path / f"{share}.safetensors"
        how = recipe(tiny_model, MATCH)
        ridge.train_ridge(examples, str(head), how, Runtime(device="cpu"), strength=0.1, untrained=share)
        said[share] = asked(head, examples)
    f = seen["F"] / seen["F"].std()
    both = said[0.0] / said[0.0].std() + 0.5 * f
    assert np.corrcoef(said[0.5], both)[0, 1] == pytest.approx(1, abs=1e-5)  # weights are float32
    assert np.corrcoef(said[1000.0], f)[0, 1] == pytest.approx(1, abs=1e-5)
    scores = np.array([e.score for e in examples])
    assert np.polyfit(said[0.5], scores, 1) == pytest.approx([1, 0], abs=1e-3)  # on the scale of the scores
    with pytest.raises(InputError, match="untrained is 1, and features are hyp"):
        ridge.train_ridge(examples, str(head), recipe(tiny_model, "4h"), Runtime(device="cpu"), untrained=1)


def test_the_head_is_small_and_says_how_it_was_made(examples, tiny_model, tmp_path):
    head = tmp_path / "head.safetensors"
    ridge.train_ridge(examples, str(head), recipe(tiny_model), Runtime(device="cpu"), about={"name": "mine"})
    with safe_open(str(head), framework="pt") as file:
        about = file.metadata()
        assert file.get_tensor("out.weight").shape == (1, 4 * 32 + 19)
    expected = {"method": "ridge", "features": "hyp,ref,hyp*ref,|hyp-ref|,match", "layers": "1", "match_layer": "2"}
    assert {name: about[name] for name in expected} == expected
    assert (about["name"], about["widths"], about["kind"], about["high"]) == ("mine", "", "regressor", "1")


def test_it_is_a_metric_whose_scores_company_does_not_move(examples, tiny_model, tmp_path):
    head = tmp_path / "head.safetensors"
    ridge.train_ridge(examples, str(head), recipe(tiny_model), Runtime(device="cpu"))
    hyps, refs = [e.texts["hyp"] for e in examples], [e.texts["ref"] for e in examples]
    together = ng.score(hyps, refs, metrics=f"regressor:model={head}")[f"regressor:model={head}"].values
    alone = [ng.score([h], [r], metrics=f"regressor:model={head}") for h, r in zip(hyps[:5], refs[:5], strict=True)]
    assert [next(iter(one.values())).values[0] for one in alone] == pytest.approx(together[:5], abs=1e-4)
    shared = ng.score(hyps, refs, metrics=[f"regressor:model={head}", "bertscore"])  # vectors of one encoder only
    assert next(iter(shared.values())).values == pytest.approx(together, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "4h", "match_layer": 1}, "match_layer is 1, and features '4h' matches nothing"),
        ({"layers": "mix"}, "layers is 'mix', whose weights are learnt; method ridge reads one layer or several"),
        ({"method": "frozen"}, r"features is '4h\+match', which only method ridge learns from"),
        (
            {"features": "match", "layers": (1,)},
            r"layers is \(1,\), whose vectors features 'match' does not read; match_",
        ),
        (
            {"features": "2h", "side": "source"},
            "features is '2h', which compares texts, and side 'source' is one alone",
        ),
        ({"reference": False, "source": True}, r"features is '4h\+match', which matches a text with its reference"),
    ],
)
def test_recipes_that_cannot_be_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        RegressorRecipe(**{"method": "ridge", "features": "4h+match"} | options)


def test_what_cannot_be_fitted_is_refused(examples, tiny_model, tmp_path):
    for wrong, how, message in (
        (examples[:2], {}, "2 examples with equal scores or too few, expected three that differ, or more"),
        ([e._replace(score=1.0) for e in examples], {}, "40 examples with equal scores"),
        (examples, {"match_layer": 9}, "the layer that is matched is 9, but model .* has layers 0 to "),
    ):
        with pytest.raises(InputError, match=message):
            ridge.train_ridge(wrong, str(tmp_path / "h.safetensors"), recipe(tiny_model, **how), Runtime(device="cpu"))
    with pytest.raises(InputError, match=r"name a head, \.safetensors"):
        ridge.train_ridge(examples, str(tmp_path / "folder"), recipe(tiny_model), Runtime(device="cpu"))
    assert not list(tmp_path.glob("*.safetensors"))


def test_training_in_steps_is_another_function(examples, tiny_model, tmp_path):
    pytest.importorskip("peft")
    from nlgauge.training.regressor import train_regressor

    with pytest.raises(InputError, match="method is 'ridge', which train_ridge fits: it takes no steps"):
        train_regressor(examples, str(tmp_path / "h.safetensors"), recipe(tiny_model), Runtime(device="cpu"))
