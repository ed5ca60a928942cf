"""What a file may name: metrics that run in this process on what ships. Nothing is opened to say so."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from contextlib import suppress
from typing import get_type_hints

import pytest

from nlgauge.core.errors import SpecError
from nlgauge.core.spec import quote_always
from nlgauge.metrics.registry import METRICS, own_function
from nlgauge.metrics.shipped import _is_choice, check_shipped, metric_of_file

SHIPPED = [
    "chrf", "BLEU", "chrf:word_order=2", "bleu:tokenize=intl", "bertscore", "bertscore:layer=5,idf=true,model=embedded",
    "0.3*nli + 0.7*bertscore", "0.5*chrf + 0.5*ter[norm=none]", "guarded(chrf)", "nli-robust", "nli:model=nli-robust",
    "sescore", "sescore:model=rated", "rated", "qbleu1", "qmetric:base=rougeL",
    "moverscore", "supert", "parent", "fluency", "blanc", "gruen",
]  # fmt: skip
OTHERS = [
    'external:module="x.py"', 'EXTERNAL:module="x.py"', "guarded(external:module=x)",
    "0.5*chrf + 0.5*external:module=x", 'bleurt:python="x"', "unbabel-comet", 'meteor15:jar="x.jar"', "spice",
    'scores:file="x.tsv"', 'blend:model="x.json"', 'beer:model="x.json"', 'sentinel:model="x"',
    "bertscore:model=roberta-large", 'bertscore:model="x"', "bartscore", 'bertscore:idf_file="x"',
    'bertscore:baseline="x"', "paper/bertscore", "paper/menli-d", 'greedy:vectors="x"', 'nli:model="x.safetensors"',
    "regressor:model=x", 'meteor:wordnet="x"', 'moverscore:stopwords="x"', 'qmetric:base="external:module=x"',
    '0.5*chrf + 0.5*ter[norm=file("x.json")]', "bleu:tokenize=flores200",
    # names of models that ship, where they would name a file or a model of the hub
    "bertscore:idf_file=nli", "bertscore:model=nli", "moverscore:stopwords=rated", "greedy:vectors=embedded",
    "meteor:wordnet=embedded", "nli:model=sescore", "nli:labels=nli", "bertscore:revision=embedded",
]  # fmt: skip


@pytest.mark.parametrize("spec", SHIPPED)
def test_what_ships_is_taken(spec):
    check_shipped(spec)
    assert metric_of_file(spec).info.name


@pytest.mark.parametrize("spec", OTHERS)
def test_everything_else_is_refused_in_one_line(spec):
    with pytest.raises(SpecError, match=r"stands in a file, and .*; a file may name only metrics that run on") as said:
        metric_of_file(spec)
    assert "\n" not in str(said.value)


def test_every_name_is_either_plainly_shipped_or_refused():
    """A metric that comes later with a path in its options is refused until somebody says otherwise."""
    for name in METRICS.entries:
        try:
            check_shipped(name)
        except SpecError as error:
            assert "stands in a file" in str(error)  # noqa: PT017 (most names pass)


def test_an_option_that_is_left_out_names_no_file_or_model_that_does_not_ship():
    """What a class has as its default is taken unseen, so that its texts stand here; add one only if it ships."""
    ship = {None, "", "{}", *"embedded nli nli-robust infill sescore rated bleu4 en english references".split()}
    for name in METRICS.entries:
        with suppress(SpecError):
            check_shipped(name)
            cls, _ = METRICS.lookup(name)
            hints = get_type_hints(cls)
            for field in dataclasses.fields(cls):
                if field.init and not _is_choice(hints[field.name]):
                    assert field.default in ship, (name, field.name)


def test_metrics_in_metrics_without_an_end_are_refused():
    spec = "chrf"
    for _ in range(20):
        spec = f"qmetric:base={quote_always('guarded(' * 9 + spec + ')' * 9)}"
        if len(spec) > 40_000:
            break
        metric_of_file(spec)
    with pytest.raises(SpecError, match="more than 10 brackets"):
        metric_of_file("guarded(" * 5000)


def test_what_the_user_typed_is_no_leave_for_a_file(monkeypatch):
    def mine(hypothesis):
        return 1

    monkeypatch.setattr(METRICS, "entries", dict(METRICS.entries))
    own_function(mine, "module:mine")
    with pytest.raises(SpecError, match="'mine' is no metric of this package"):
        check_shipped("mine")


def test_nothing_is_opened_started_or_imported_to_refuse(tmp_path):
    """An audit hook of Python sees every process, file and import; what Python's own machinery reads is let through."""
    (tmp_path / "planted.py").write_text("raise SystemExit('it ran')")
    code = f"""
import sys
import nlgauge.metrics.registry as registry
from nlgauge.metrics.shipped import check_shipped
for name in registry.METRICS.entries:
    registry.METRICS.lookup(name)
seen = []
def hook(event, args):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system", "socket.connect"):
        seen.append((event, args))
    if event == "open" and {str(tmp_path)!r} in str(args[0]):
        seen.append((event, args[0]))
    if event == "import" and args[0] == "planted":
        seen.append((event, args[0]))
sys.path.insert(0, {str(tmp_path)!r})
sys.addaudithook(hook)
for spec in {[spec.replace('"x', f'"{tmp_path}/planted').replace("=x", "=planted") for spec in OTHERS]!r}:
    try:
        check_shipped(spec)
        seen.append(spec)
    except registry.SpecError:
        pass
print(seen)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"
