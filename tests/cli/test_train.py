"""What the kinds of training share."""

import json
import re
from importlib.util import find_spec

import pytest
from tests.cli.command import write

import nlgauge as ng
from nlgauge.cli.main import TRAIN, main
from nlgauge.cli.train import TrainRun, file_of, listed, metadata, teller, training_installed
from nlgauge.core.errors import MissingExtra, NlgaugeError
from nlgauge.core.spec import quote

pytest.importorskip("torch")
if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)


def test_names_between_commas():
    assert listed(" a, b,,c ") == ["a", "b", "c"]
    assert listed("") == []


def test_metadata_name_known_perturbations_alone():
    assert metadata(["name=mine", "phenomena=negation, typos"]) == {
        "name": "mine",
        "recipe": "",
        "data": "",
        "trained_on_phenomena": "negation,typos",
    }
    with pytest.raises(NlgaugeError, match="did you mean 'negation'"):
        metadata(["phenomena=negatio"])


def test_what_is_not_installed_is_named_with_its_extra():
    with pytest.raises(MissingExtra, match=r"no peft.*nlgauge\[train\]"), training_installed():
        raise ModuleNotFoundError(name="peft")


def test_a_folder_that_is_there_is_no_file(tmp_path):
    assert file_of(str(tmp_path)) is None
    assert file_of("head.safetensors") == "head.safetensors"


def test_progress_is_told_on_stderr_unless_it_is_quiet(capsys):
    teller(False)("step 1")
    teller(True)("step 2")
    assert capsys.readouterr() == ("", "step 1\n")


@pytest.mark.parametrize("taken", ["float32", "bfloat16"])
def test_training_runs_in_the_precision_that_suits_the_device(monkeypatch, taken):
    # By the rule of `--dtype auto` (tests/runtime/test_runtime.py has the devices), which asks the device of the run.
    asked = []
    monkeypatch.setattr("nlgauge.runtime.runtime.automatic", lambda device: asked.append(device) or taken)
    assert TrainRun(device="cpu").runtime(cached=False).dtype == taken
    assert asked == ["cpu"]


# --- `nlgauge train`: which kinds of training there are


def test_every_kind_is_listed(capsys):
    assert main(["train", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in TRAIN)


def test_an_unknown_kind_is_one_line_with_the_nearest(capsys):
    assert main(["train", "basline"]) == 2
    assert "'baseline'" in capsys.readouterr().err


# --- `nlgauge train baseline`: baselines that rescaling reads

SENTENCES = [
    "The cat sleeps.",
    "Taxes rise in May.",
    "Bring the blue chair.",
    "Nobody won the race.",
    "Rivers run to the sea.",
    "She repaired the radio.",
]


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("\n".join([*SENTENCES, "word " * 40, ""]) + "\n")
    return path


def test_a_measured_baseline_rescales(texts, tmp_path, capsys):
    out = tmp_path / "b.csv"
    assert main(["train", "baseline", str(texts), "-o", str(out), "--pairs", "20"]) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "LAYER,P,R,F"
    assert [line.split(",")[0] for line in lines[1:]] == [str(i) for i in range(7)]
    raw, spread = f"bertscore:layer=3,baseline={quote(str(out))},rescale=true", "bertscore:layer=3"
    scores = ng.score(["A cat naps."], ["The cat sleeps."], metrics=[raw, spread])
    bound = float(lines[4].split(",")[3])
    assert scores[raw].values[0] == pytest.approx(
        (scores[spread].values[0] - bound) / (1 - bound), abs=1e-6
    )  # float32 vectors


def test_the_seed_makes_the_pairs(texts, tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        main(["train", "baseline", str(texts), "-o", str(tmp_path / name), "--pairs", "5", "--seed", seed, "-q"])
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    assert (tmp_path / "a").read_text() != (tmp_path / "c").read_text()


def test_too_few_sentences(tmp_path, capsys):
    (tmp_path / "one.txt").write_text("Only this.\nOnly this.\n")
    assert main(["train", "baseline", str(tmp_path / "one.txt"), "-o", str(tmp_path / "b.csv")]) == 2
    assert "at least two different sentences" in capsys.readouterr().err
    assert not (tmp_path / "b.csv").exists()


def test_layers_come_with_intervals_as_a_table_and_as_a_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))
    data = tmp_path / "rated.jsonl"
    rows = [
        {"id": str(i), "hyp": text, "ref": SENTENCES[0], "human": {"quality": rating}}
        for i, (text, rating) in enumerate(zip(SENTENCES, (5, 2, 1, 3, 2, 4), strict=False))
    ]
    write(data, rows)
    assert main(["train", "layers", str(data), "--html", str(tmp_path / "layers.html")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r" +0  -?0\.\d{4} \[-?\d\.\d{4}, -?\d\.\d{4}\]", lines[1])
    assert lines[-1].startswith("best: bertscore:layer=")
    assert "bertscore:layer=6" in (tmp_path / "layers.html").read_text()


def test_layers_of_several_models_are_one_picture(tmp_path, capsys, monkeypatch, tiny_model):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))
    data, told, page = tmp_path / "rated.jsonl", tmp_path / "layers.json", tmp_path / "layers.html"
    rows = [
        {"id": str(i), "hyp": text, "ref": SENTENCES[0], "human": {"quality": rating}}
        for i, (text, rating) in enumerate(zip(SENTENCES, (5, 2, 1, 3, 2, 4), strict=False))
    ]
    write(data, rows)
    tiny = str(tiny_model("bert"))
    asked = ["train", "layers", str(data), "--model", "embedded", "--model", tiny, "--json", str(told)]
    assert main([*asked, "--html", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "embedded"
    assert tiny in lines
    assert [line.startswith("best: bertscore:") for line in lines[-2:]] == [True, True]
    result = json.loads(told.read_text())
    assert {(row["model"], row["layer"]) for row in result["rows"]} == {
        *(("embedded", layer) for layer in range(7)),
        *((tiny, layer) for layer in range(4)),
    }
    assert sum(f"best layer of {model}" in note for note in result["notes"] for model in ("embedded", tiny)) == 2
    html = page.read_text()
    assert html.count("pearson by layer") == 1  # one picture, with two curves of seven and four points
    assert html.count("<title>embedded, layer ") == 7
    assert html.count("<title>") == 1 + 7 + 4
    assert main([*asked, "--revision", "main"]) == 2
    assert "--revision is now behind the name of the model: NAME@REVISION" in capsys.readouterr().err


# --- `nlgauge train infill`: from raw sentences to a head that perturbations use by its name

INFILL_SENTENCES = [
    "the cat sat on the mat",
    "a dog lay on a rug",
    "heavy rain fell today",
    "snow fell on the mat",
    "the dog sat not today",
]


@pytest.fixture
def infill_texts(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("\n".join([*INFILL_SENTENCES * 4, "cat", ""]) + "\n")
    return path


def test_an_infill_head_is_trained_evaluated_and_used(infill_texts, tiny_model, tmp_path, capsys):
    out = tmp_path / "h.safetensors"
    words = (
        f"--model {tiny_model('bert')} --rank 2 --batch-size 4 --epochs 2 --dev {infill_texts} --about name=x"
    ).split()
    assert main(["train", "infill", str(infill_texts), "-o", str(out), *words]) == 0
    told = capsys.readouterr()
    header, row = told.out.splitlines()
    assert header.split() == ["n", "top-1", "top-5", "loss"]
    assert row.endswith(str(infill_texts))
    assert told.err.startswith(
        "20 texts, 7.2 tokens each, 0 cut, 1 too short"
    )  # 6, 6, 4, 5 and 5 words, and two special tokens
    assert "pass 2: raw.txt top-1" in told.err
    made = ng.perturb(f"mask_and_predict:infill={quote(str(out))}", ["the cat sat on the mat"])[0]
    assert made.text != "the cat sat on the mat"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "h.txt"], "end its name in .safetensors"),
        (["-o", "raw.txt"], "would be written over the input"),
        (["-o", "h.safetensors", "--mask", "0"], "--mask is 0.0, expected above 0 and at most 1"),
        (["-o", "h.safetensors", "--dtype", "float16"], "expected bfloat16 or float32"),
        (["-o", "h.safetensors", "--dev", "none.txt"], "none.txt"),
    ],
)
def test_what_cannot_begin_says_why_in_a_line(infill_texts, tiny_model, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "infill", "raw.txt", *words, "--model", str(tiny_model("bert"))]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("nlgauge:")]
    assert message in line


# --- `nlgauge train nli`: NLI heads

PAIRS = ['{"premise": "A cat sleeps.", "hypothesis": "An animal rests.", "label": "entailment"}',
         '{"premise": "A cat sleeps.", "hypothesis": "A cat runs.", "label": "Contradiction"}']  # fmt: skip


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(PAIRS) + "\n")
    return path


def test_an_nli_head_is_trained_evaluated_and_named(pairs, tiny_model, tmp_path, capsys):
    pytest.importorskip("peft")
    out = tmp_path / "head.safetensors"
    words = [
        "--model",
        str(tiny_model("bert")),
        "--rank",
        "2",
        "--max-tokens",
        "40",
        "--about",
        "phenomena=negation, typos",
        "--test",
        str(pairs),
    ]
    assert main(["train", "nli", str(pairs), str(pairs), "-o", str(out), *words]) == 0
    told = capsys.readouterr()
    assert "4 pairs" in told.err  # a file named twice counts twice
    assert told.out.splitlines()[0].split() == ["n", "accuracy", "two-way", "entail", "neutral", "contra"]
    assert told.out.splitlines()[1].split()[0] == "2"
    from nlgauge.models.entailment import locate_nli

    assert locate_nli(str(out)).trained_on == ("negation", "typos")


@pytest.mark.parametrize(
    ("label", "words", "message"),
    [
        ("perhaps", [], "pairs.jsonl:3: label is 'perhaps'"),
        ("neutral", ["--about", "phenomena=negatio"], "did you mean 'negation'"),
        ("neutral", ["--method", "lore"], "method is 'lore'; did you mean 'lora'"),
        ("neutral", ["--method", "full", "--alpha", "8"], "--alpha is about adapters, and --method full trains none"),
        ("neutral", ["--model", "embedded@main"], "has no revisions"),
        ("neutral", ["--dtype", "float16"], "dtype is float16"),
    ],
)
def test_nli_training_that_cannot_begin_says_why_in_a_line(pairs, tiny_model, tmp_path, capsys, label, words, message):
    pairs.write_text(pairs.read_text() + PAIRS[0].replace("entailment", label) + "\n")
    assert (
        main([*f"train nli {pairs} -o {tmp_path / 'h.safetensors'} --model {tiny_model('bert')}".split(), *words]) == 2
    )
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["pairs.jsonl"]
