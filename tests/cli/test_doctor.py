"""`doctor` tells what is installed."""

import re
import sqlite3
import tomllib
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.spec import version
from nlgauge.models import fetch, repository
from nlgauge.runtime.cache import ScoreCache


@pytest.fixture
def quick(monkeypatch):
    """Without the digest of the embedded weights, and without torch."""
    monkeypatch.setattr("nlgauge.models.fetch.check", lambda name, target: None)
    monkeypatch.setattr("nlgauge.cli.doctor._device", lambda: "none")


def test_doctor_names_versions_device_and_cache(tmp_path, capsys):
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for word in ("nlgauge", "sacrebleu", "embedded", "base", "device", "cache"):
        assert word in out
    assert "nothing kept yet" in out


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("", "embedded for metrics that name no model\n"),
        ("base", "base for metrics that name no model, as NLGAUGE_ENCODER says\n"),
        ("large", "NLGAUGE_ENCODER is 'large'; known: auto, base, embedded, multilingual; other models are named"),
    ],
)
def test_doctor_says_which_encoder_is_taken(tmp_path, capsys, monkeypatch, named, said):
    monkeypatch.setenv("NLGAUGE_ENCODER", named)
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    assert f"\nencoder      {said}" in capsys.readouterr().out


@pytest.mark.usefixtures("quick")
def test_a_cache_that_holds_something_is_counted(tmp_path, capsys):
    ScoreCache(tmp_path / "scores.sqlite").put("signature", ["value"], [b"key"], np.array([[1.0]]))
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    assert "1 scores, " in capsys.readouterr().out


@pytest.mark.usefixtures("quick")
def test_the_papers_model_in_the_hubs_cache_is_said_by_doctor_and_beside_the_small_one(tmp_path, capsys, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    note = "paper/bertscore, the model of bert-score, is in the cache"
    folder = tmp_path / "models--FacebookAI--roberta-large" / "snapshots" / ("1" * 40)
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_text("{}")
    assert note not in ng.metric("bertscore").notes  # no weights: it is not whole
    (folder / "model.safetensors").write_bytes(b"")
    assert note in ng.metric("bertscore").notes
    if fetch.is_whole(fetch.encoder("multilingual"), fetch.home("multilingual")):
        assert note not in ng.metric("bertscore:model=multilingual").notes  # the paper's reads English
    monkeypatch.setattr(
        repository, "held", lambda: [repository.Held("FacebookAI/roberta-large", ("1" * 40,), 0, "mit")]
    )
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    assert "licence mit; in the hub's cache, for paper/bertscore, paper/bertscore-en\n" in capsys.readouterr().out


@pytest.mark.usefixtures("quick")
def test_damaged_and_old_scores_are_counted_and_pruned(tmp_path, capsys):
    def told(*more):
        assert main(["doctor", "--cache", str(tmp_path), *more]) == 0
        return capsys.readouterr().out.splitlines()[-1]

    cache = ScoreCache(tmp_path / "scores.sqlite")
    cache.put(f"metric:m|nlgauge:{version('nlgauge')}", ["value"], [b"a", b"b"], np.ones((2, 1)))
    cache.close()
    assert told().endswith(": 2 scores, 0.0 MB; all are whole")
    cache.put("metric:m|nlgauge:0.0.1", ["value"], [b"a"], np.ones((1, 1)))
    cache.close()
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE scores SET row = zeroblob(8) WHERE key = ? AND signature = 1", (b"b",))
    connection.close()
    assert told().endswith(": 3 scores, 0.0 MB; 1 damaged and 1 of other versions: --prune deletes them")
    assert told("--prune").endswith(": 3 scores, 0.0 MB; 1 damaged and 1 of other versions: deleted, 0.0 MB are left")
    assert told().endswith(": 1 scores, 0.0 MB; all are whole")


@pytest.mark.usefixtures("quick")
def test_a_file_that_is_no_cache_is_told_and_never_deleted(tmp_path, capsys):
    path = tmp_path / "scores.sqlite"
    path.write_bytes(b"somebody's letters" * 100)
    assert main(["doctor", "--cache", str(tmp_path), "--prune"]) == 0
    assert "cannot be used (file is not a database)" in capsys.readouterr().out
    assert path.read_bytes() == b"somebody's letters" * 100


@pytest.mark.usefixtures("quick")
def test_every_extra_is_shown_with_what_it_brings(tmp_path, capsys):
    project = Path(__file__).parents[2] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("no checkout")
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    for extra in extras.keys() - {"all", "dev"}:
        packages = {re.split(r"[<>=\[]", package)[0] for package in extras[extra]} - {"nlgauge"}
        assert [package for package in packages if package not in lines[extra]] == []


# --- `fetch` lists, fetches and removes encoders


def test_encoders_are_listed_fetched_and_removed(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path))
    told = []
    monkeypatch.setattr(
        "nlgauge.models.fetch.fetch", lambda *names, source, quiet: told.append((names, source, quiet)) or [tmp_path]
    )
    assert main(["fetch", "embedded", "base", "--from", "stick", "-q"]) == 0
    assert told == [(("embedded", "base"), "stick", True)]
    assert capsys.readouterr().out == f"{tmp_path.name}: whole, in {tmp_path}\n"
    assert main(["fetch", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["embedded", "base", "multilingual"]
    (tmp_path / "base").mkdir()
    assert main(["fetch", "base", "--remove"]) == 0
    assert capsys.readouterr().out == f"base: removed from {tmp_path / 'base'}\n"
    assert not (tmp_path / "base").exists()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["base", "--list"], "--list lists all encoders; leave the rest out"),
        (["--remove"], "--remove deletes encoders that are named, and fetches none"),
        (["bsae"], "unknown encoder 'bsae'; did you mean 'base'?"),
        ([], "name an encoder (embedded, base, multilingual), all of them, or a model of the hub: OWNER/NAME"),
    ],
)
def test_what_fetch_cannot_do_is_one_line(capsys, typed, said):
    assert main(["fetch", *typed]) == 2
    assert capsys.readouterr().err == f"nlgauge: {said}\n"
