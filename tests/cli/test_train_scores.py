"""`nlgauge train sescore` and `train regressor`: from a file to a metric, and what cannot begin told in a line."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from tests.cli.command import refused, run, write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.spec import quote

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)


REFERENCES = [
    "the cat sat on the mat",
    "rain fell today",
    "a dog lay on the rug",
    "heavy snow",
    "good morning today",
    "the rain fell on a cat",
]
SMALL = ["--rank", "2", "--max-tokens", "24", "--widths", "8", "--epochs", "1", "--batch-size", "8"]


@pytest.fixture
def triples(tmp_path):
    path = tmp_path / "triples.jsonl"
    rows = [
        {"hyp": " ".join(ref.split()[k:]), "refs": [ref], "score": -float(k)} for ref in REFERENCES for k in range(2)
    ]
    return write(path, rows)


@pytest.fixture
def rated(tmp_path):
    path = tmp_path / "rated.jsonl"
    rows = [
        {
            "id": f"{i}",
            "hyp": ref[2:],
            "refs": [ref, "the dog"],
            "src": f"rain {ref}",
            "human": {"adequacy": i / 6, "fluency": [1, i]},
        }
        for i, ref in enumerate(REFERENCES)
    ]
    return write(path, rows)


def test_triples_become_a_metric(triples, rated, tiny_model, tmp_path, capsys):
    out, curve = tmp_path / "own.safetensors", tmp_path / "curve.tsv"
    model = [
        "--model",
        tiny_model("bert"),
        *SMALL,
        "--about",
        "name=own",
        "--about",
        "severities=none",
        "--about",
        "phenomena=typos",
        "--copies",
        "1",
        "--unrelated",
        "0.5",
    ]
    assert run("train", "sescore", triples, "-o", out, *model, "--dev", rated, "-c", "adequacy", "--curve", curve) == 0
    told = capsys.readouterr()
    assert "21 examples" in told.err  # twelve, six copies, three unrelated
    assert told.out.startswith("kept the weights of step ")
    assert "note: the weights were chosen by" in told.out  # of fewer than 50 segments, said beside their number
    assert "kendall_b on rated.jsonl, adequacy" in told.out
    assert curve.read_text().splitlines()[0] == "step\tloss\tdev"
    spec = f"sescore:model={quote(str(out))}"
    scores = ng.score(["a cat"], ["the cat"], metrics=[spec])[spec]
    assert len(scores.values) == 1
    from nlgauge.models.regressor import locate_regressor

    head = locate_regressor(str(out)).head
    expected = {
        "name": "own",
        "severities": "none",
        "copies": "1",
        "unrelated": "0.5",
        "high": "0",
        "low": "-25",
        "trained_on_phenomena": "typos",
    }
    assert {key: head.get(key) for key in expected} == expected


def test_no_triple_is_worse_than_an_unrelated_text(triples, tiny_model, tmp_path):
    from nlgauge.models.regressor import locate_regressor

    triples.write_text(triples.read_text().replace("-1.0", "-40.0"))
    out = tmp_path / "h.safetensors"
    assert (
        run(
            "train",
            "sescore",
            triples,
            "-o",
            out,
            "--model",
            tiny_model("bert"),
            *SMALL,
            "--held-out",
            "0",
            "--standardise",
        )
        == 0
    )
    assert float(locate_regressor(str(out)).head.get("target_mean")) == -12.5  # six scores of 0, six of -25


def test_without_ratings_a_share_of_the_triples_chooses(triples, tiny_model, tmp_path, capsys):
    from nlgauge.models.regressor import locate_regressor

    out = tmp_path / "h.safetensors"
    words = ["train", "sescore", triples, "-o", out, "--model", tiny_model("bert"), *SMALL]
    assert run(*words) == 0
    assert "kendall_b on 2 held back" in capsys.readouterr().out  # one of six references, with two triples
    assert run(*words, "--held-out", "0") == 0
    assert capsys.readouterr().out == "kept the weights of the last step, 2\n"
    assert locate_regressor(str(out)).range == (-25, 0)  # the scale of severities; these triples score 0 and -1


def test_ratings_become_a_metric_of_source_and_reference(rated, tiny_model, tmp_path, capsys):
    out = tmp_path / "rated.safetensors"
    small = ["--model", tiny_model("bert"), *SMALL, "-c", "fluency", "--source"]
    words = ["--held-out", "0.3", "--layer", "mix", "--loss", "mse+pairwise", "--standardise"]
    assert run("train", "regressor", rated, "-o", out, *small, *words) == 0
    assert "examples" in capsys.readouterr().err
    assert run("score", rated, "-m", f"regressor:model={quote(str(out))}", "--no-cache", "-q") == 0
    assert run("train", "regressor", rated, "-o", out, *small, "--no-reference", "--held-out", "0.3", "-q") == 0
    assert ng.metric(f"regressor:model={quote(str(out))}").info.needs == {"source"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "lore"], "--method is 'lore'; did you mean 'lora'"),
        (["--layer", "top"], "--layer is 'top', expected whole numbers with commas or mix"),
        (["--widths", "8;4"], "--widths is '8;4', expected whole numbers with commas"),
        (["--features", "6h"], "features is '6h'"),
        (["--loss", "mae"], "loss is 'mae'"),
        (["--dtype", "float16"], "dtype is float16"),
        (["--about", "phenomena=typo"], "did you mean 'typos'"),
        (["--about", "phenomenon=typos"], "'phenomenon=typos'; did you mean 'phenomena'"),
        (["--about", "mine"], "--about 'mine'"),
        (["--dev", "triples.jsonl"], "--dev: no segment of triples.jsonl has a human rating"),
        (["--dev", "rated.jsonl"], "--dev: rated.jsonl has 2 criteria (adequacy, fluency), expected the name of one"),
        (
            ["--dev", "rated.jsonl", "-c", "adequac"],
            "--dev: no segment of rated.jsonl is rated for 'adequac'; did you mean 'adequacy'",
        ),
        (["--dev", "rated.jsonl", "-c", "adequacy", "--stat", "kendal_b"], "did you mean 'kendall_b'"),
        (["--stat", "pearson"], "--stat says how the texts of --dev are measured, and there is no --dev"),
        (["-c", "adequacy"], "--criterion says what the texts of --dev were rated for, and there is no --dev"),
        (["--method", "full"], "--rank is about adapters, and --method full trains none"),
        (["--method", "frozen", "--rank", "16", "--encoder-dropout", "0.1"], "--encoder-dropout is about an encoder"),
        (["--method", "ridge"], "--widths is about networks that learn in steps, and --method ridge has none"),
        (["--features", "match"], "features is 'match', which only method ridge learns from"),
        (["--dev", "rated.jsonl", "--held-out", "0.2"], "--held-out holds texts back, and --dev brings them"),
        (["--learning-rate", "0"], "learning_rate is 0.0, expected above 0"),
        (["--curve", "triples.jsonl"], "would be written over the input"),
    ],
)
def test_training_that_cannot_begin_says_why_in_a_line(
    triples, rated, tiny_model, tmp_path, capsys, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    assert (
        run("train", "sescore", "triples.jsonl", "-o", "h.safetensors", "--model", tiny_model("bert"), *SMALL, *words)
        == 2
    )
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rated.jsonl", "triples.jsonl"]


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["--epochs", "1"], "--epochs"),
        (["--epochs", "20"], "--epochs"),
        (["--learning-rate", "0.1"], "--learning-rate"),
        (["--batch-size", "8"], "--batch-size"),
        (["--loss", "pairwise"], "--loss"),
        (["--curve", "curve.tsv"], "--curve"),
    ],
)
def test_ridge_refuses_what_is_about_steps_by_the_name_that_was_typed(rated, tmp_path, capsys, words, flag):
    how = ["--method", "ridge", "-c", "adequacy", *words]
    assert run("train", "regressor", rated, "-o", tmp_path / "h.safetensors", *how) == 2
    told = capsys.readouterr().err
    assert f"{flag} is about networks that learn in steps, and --method ridge has none" in told


def test_ridge_draws_nothing(rated, tmp_path, capsys):
    how = ["--method", "ridge", "-c", "adequacy", "--seed", "1"]
    assert run("train", "regressor", rated, "-o", tmp_path / "h.safetensors", *how) == 2
    assert "--seed is about draws, and --method ridge draws nothing" in capsys.readouterr().err


def test_ridge_takes_epochs_as_they_are(rated, tiny_model, tmp_path, capsys):
    out = tmp_path / "h.safetensors"
    how = ["--method", "ridge", "-c", "adequacy", "--epochs", "2", "--layer", "1", "--model", tiny_model("bert")]
    assert run("train", "regressor", rated, "-o", out, *how, "-q") == 0
    assert out.exists()


def test_triples_are_no_ratings_and_ratings_no_triples(triples, rated, tiny_model, tmp_path, capsys):
    assert run("train", "sescore", rated, "-o", tmp_path / "h.safetensors", *SMALL) == 2
    assert "score is missing" in capsys.readouterr().err
    assert run("train", "regressor", triples, "-o", tmp_path / "h.safetensors", *SMALL) == 2
    assert "has a human rating" in capsys.readouterr().err
    assert run("train", "regressor", rated, "-o", tmp_path / "h.safetensors", "-c", "adequac", *SMALL) == 2
    assert "did you mean 'adequacy'" in capsys.readouterr().err


def test_the_papers_training_stands_where_nothing_else_is_typed(triples, rated, tiny_model, tmp_path, monkeypatch):
    import nlgauge.training.regressor as module

    seen = {}

    def train_regressor(examples, output, recipe, runtime, *, dev, **told):
        seen.update(recipe=recipe, dev=dev)
        return module.Trained(1, 1, (), {}, None, "")

    monkeypatch.setattr(module, "train_regressor", train_regressor)
    rows = [json.loads(line) | {"seg": "1"} for line in rated.read_text().splitlines()]
    write(rated, rows)
    typed = ["train", "sescore", triples, "-o", tmp_path / "o", "--preset", "paper", "--dev", rated, "-c", "adequacy"]
    assert run(*typed, "--epochs", "2", "--model", tiny_model("bert")) == 0
    recipe, schedule, dev = seen["recipe"], seen["recipe"].schedule, seen["dev"]
    assert (recipe.method, recipe.features, recipe.widths, recipe.dropout) == ("full", "2h", (2048, 1024), 0.15)
    assert (schedule.learning_rate, schedule.batch_size, schedule.weight_decay) == (3e-5, 8, 0)
    assert (schedule.constant, schedule.warmup) == (True, 0)
    assert schedule.epochs == 2  # typed, though it is the default without a preset
    assert (dev.stat, dev.threshold) == ("wmt_kendall_like", 0)
    assert run(*typed, "--stat", "kendall_b", "--model", tiny_model("bert")) == 0
    assert (seen["dev"].stat, seen["dev"].threshold, seen["recipe"].schedule.epochs) == ("kendall_b", None, 1)


def test_an_unknown_preset_is_refused(triples, tmp_path, capsys):
    assert run("train", "sescore", triples, "-o", tmp_path / "o", "--preset", "papers") == 2
    assert "--preset is 'papers', expected paper" in capsys.readouterr().err


def test_one_side_alone_becomes_a_sentinel(rated, tiny_model, tmp_path, capsys):
    out = tmp_path / "side.safetensors"
    model = ["--model", tiny_model("bert"), *SMALL[2:], "--method", "frozen", "--about", "name=side", "-c", "adequacy"]
    assert run("train", "regressor", rated, "-o", out, *model, "--side", "source", "--held-out", "0") == 0
    metric = ng.metric(f"sentinel:side=source,model={quote(str(out))}")
    rows = [ng.Segment(hyp, hyp, source="rain fell") for hyp in ("a cat", "snow")]
    assert len(set(metric.score(rows, ng.Runtime(device="cpu")).values.tolist())) == 1
    capsys.readouterr()
    assert run("train", "regressor", rated, "-o", out, *model, "--side", "source", "--no-reference") == 2
    assert "--no-reference is about comparisons, and --side has none" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["regressor", "sescore"])
def test_both_texts_in_one_sequence_become_a_metric(verb, triples, rated, tiny_model, tiny_head, tmp_path, capsys):
    out = tmp_path / "both.safetensors"
    data = [rated, "-c", "adequacy"] if verb == "regressor" else [triples, "--copies", "0.5"]
    how = ["--features", "both", "--init", tiny_head(), "--rank", "2", "--max-tokens", "24", "--epochs", "1"]
    assert run("train", verb, *data, "-o", out, "--model", tiny_model("bert"), *how, "--held-out", "0") == 0
    told = capsys.readouterr()
    assert "distinct pairs" in told.err
    assert "kept the weights of the last step" in told.out
    metric = ng.metric("sescore" if verb == "sescore" else "regressor", model=str(out))
    assert metric.info.needs == {"references"}
    assert metric.trained_on == ("negation", "number_error")  # as the head that it began from


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--source"], "features is 'both', which reads hypothesis and reference in one sequence and no source"),
        (["--side", "hypothesis"], "side 'hypothesis' is one alone"),
        (["--layer", "2"], "layers is (2,), and features 'both' read the last one; leave it out"),
        (["--widths", "8"], "widths is (8,), of hidden layers, and features 'both' have none; leave it out"),
        (["--method", "frozen"], "method is 'frozen', and features 'both' learn by adapters"),
    ],
)
def test_what_makes_no_sense_for_both_texts_in_one_sequence_is_refused(rated, tmp_path, capsys, words, message):
    out = tmp_path / "both.safetensors"
    words = ["train", "regressor", rated, "-c", "adequacy", "-o", out, "--features", "both", *words]
    assert message in refused(capsys, *words)


# --- `nlgauge train blend` and `train beer`: from rated texts to a metric, and what cannot begin told in a line

REFERENCE = "the cat sat on the mat while rain fell"


@pytest.fixture
def linear_rated(tmp_path):
    path = tmp_path / "rated.jsonl"
    words = REFERENCE.split()
    rows = [
        {"id": f"{i}.{k}", "seg": f"{i}", "hyp": " ".join(words[k + i % 2 :]), "refs": [REFERENCE], "human": {"da": -k}}
        for i in range(4)
        for k in range(4)
    ]
    return write(path, rows)


@pytest.fixture
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("no_cache")
def test_ratings_become_a_blend(linear_rated, tmp_path, capsys):
    out = tmp_path / "blend.json"
    assert run("train", "blend", linear_rated, "-m", "chrf,ter", "-o", out, "-c", "da", "--about", "data=made up") == 0
    told = capsys.readouterr().out
    assert told.startswith("metric  weight")
    assert "16 segments; strength " in told
    assert json.loads(out.read_text())["data"] == "made up"
    assert run("meta", linear_rated, "-m", f'blend:model="{out}"', "-c", "da", "--no-cache") == 0
    assert "trained on human ratings (made up); agreement with ratings of the same texts" in capsys.readouterr().out
    assert run("train", "blend", linear_rated, "-m", "chrf", "-o", out, "-q") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("no_cache")
def test_ratings_become_a_ranker_of_several_files(linear_rated, tmp_path, capsys):
    out, again = tmp_path / "beer.json", tmp_path / "again.jsonl"
    again.write_text(linear_rated.read_text())  # the same names of inputs, which stay apart
    assert run("train", "beer", linear_rated, again, "-o", out) == 0
    assert capsys.readouterr().out == "48 pairs; 100.0 % of them in the right order\n"
    (scores,) = ng.score([REFERENCE, "the dog"], [REFERENCE] * 2, metrics=[f'beer:model="{out}"']).values()
    assert scores.values[0] > scores.values[1]


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train blend rated.jsonl -m chrff -o x.json", "unknown metric 'chrff'"),
        ("train blend rated.jsonl -m chrf -o x.json -c fluency", "is rated for 'fluency'"),
        ("train blend rated.jsonl -m chrf -o rated.jsonl", "would be written over the input"),
        ("train blend rated.jsonl -m regressor -o x.json", "regressor needs the option 'model'"),
        ("train beer rated.jsonl -o no/x.json", "no/x.json"),
        ("train beer rated.jsonl -o x.json --within pair", "--within"),
    ],
)
def test_what_cannot_begin_is_told_in_a_line(linear_rated, words, message, monkeypatch, capsys):
    monkeypatch.chdir(linear_rated.parent)
    assert run(*words.split()) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (linear_rated.parent / "x.json").exists()


@pytest.mark.usefixtures("no_cache")
def test_files_rated_for_different_criteria_are_all_named(linear_rated, tmp_path):
    out, other = tmp_path / "beer.json", tmp_path / "other.jsonl"
    other.write_text(linear_rated.read_text().replace('"da"', '"fluency"'))
    assert run("train", "beer", linear_rated, other, "-o", out, "-q") == 0
    assert json.loads(out.read_text())["criterion"] == "da, fluency"


# --- `nlgauge train ruber`: from dialogues to a scorer that tells replies from replies to other queries

DIALOGUES = [
    ("is it heavy rain", "rain fell today"),
    ("where is the cat", "the cat sat on the mat"),
    ("where is the dog", "a dog lay on the rug"),
    ("good morning", "good morning today"),
    ("is it snow", "heavy snow fell"),
    ("not today", "not good"),
]
HOW = "--widths 16 --epochs 60 --batch-size 6 --learning-rate 0.01 --held-out 0 --dtype float32 --quiet"


@pytest.fixture
def dialogues(tmp_path):
    path = tmp_path / "dialogues.jsonl"
    rows = [
        {"hyp": reply, "context": [{"speaker": "A", "text": "a"}, {"speaker": "B", "text": query}]}
        for query, reply in DIALOGUES
    ]
    return write(path, rows)


def test_dialogues_become_a_scorer_of_replies(dialogues, tiny_model, tmp_path):
    out, encoder = tmp_path / "related.safetensors", str(tiny_model("bert"))
    words = ["train", "ruber", dialogues, "-o", out, "--model", encoder, *HOW.split()]
    assert main([str(word) for word in words]) == 0
    metric = ng.metric("ruber", model=str(out), encoder=encoder, norm="none", anchor="source", dtype="float32")
    segments = [
        ng.Segment(f"{i} {j}", reply, (DIALOGUES[i][1],), source=query)
        for i, (query, _) in enumerate(DIALOGUES)
        for j, (_, reply) in enumerate(DIALOGUES)
    ]
    related = metric.score(segments, ng.Runtime(device="cpu")).parts["unreferenced"].reshape(6, 6)
    assert np.diagonal(related).mean() > related.mean() + 0.2  # 0.6 was measured; by chance both are equal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--anchor", "source"], "--anchor is now what the data say: the query is the last turn of context, or src"),
        (["--negatives", "3"], "--negatives is now always one, as in the paper"),
        (["--loss", "mse", "--margin", "1"], "--margin is about the pairwise loss; --loss pairwise or mse+pairwise"),
        (["--method", "ridge", "--margin", "1"], "--margin is about networks that learn in steps"),
        (["--method", "none"], "--method is 'none'; known: frozen, full, lora"),
    ],
)
def test_ruber_what_cannot_begin_is_told_in_a_line(dialogues, tmp_path, capsys, words, message):
    out = tmp_path / "related.safetensors"
    assert main(["train", "ruber", str(dialogues), "-o", str(out), *words]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()
