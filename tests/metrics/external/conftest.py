"""Packages that stand in for those of other environments, and a Python that imports them."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig

import pytest

# Each answers with the share of distinct words of the hypothesis that the other text has; what it is told to do by a
# word of the hypothesis, it does.
WORDS = """
import os, sys, time
def said(hypothesis, other):
    if "crash" in hypothesis:
        print("no memory left", file=sys.stderr, flush=True)
        os._exit(3)
    if "fail" in hypothesis:
        raise RuntimeError("this text\\ncannot be read")
    if "stop" in hypothesis:
        sys.exit("stopped")
    if "undefined" in hypothesis:
        return float("nan")
    if "chatter" in hypothesis:
        print('{"values": [1]}', flush=True)
        os.write(1, b"from below\\n")
    hypothesis, other = set(hypothesis.split()), set(other.split())
    return len(hypothesis & other) / max(1, len(hypothesis | other))
"""
PACKAGES = {
    "comet/__init__.py": WORDS
    + """
class Encoder:
    max_positions = 40
    def tokenizer(self, text):
        return {"input_ids": text.split()}
class Model:
    encoder = Encoder()
    def __init__(self, path):
        self.free = open(path).read() == "reference-free"
        self.hparams = type("hparams", (), {})
    def requires_references(self):
        return not self.free
    def predict(self, samples, batch_size, gpus, progress_bar, num_workers, accelerator):
        assert not progress_bar
        return {"scores": [said(s["mt"], s["src"] if self.free else s["ref"]) for s in samples]}
def load_from_checkpoint(path):
    return Model(path)
""",
    "bleurt_pytorch/__init__.py": WORDS
    + """
class Inputs(dict):
    def to(self, device):
        return self
class BleurtTokenizer:
    @classmethod
    def from_pretrained(cls, path):
        return cls()
    def __call__(self, references, hypotheses, **options):
        if isinstance(references, str):
            return {"input_ids": (references + " " + hypotheses).split()}
        return Inputs(references=references, hypotheses=hypotheses)
class Numbers(list):
    def flatten(self):
        return self
    def tolist(self):
        return self
class BleurtForSequenceClassification:
    config = type("config", (), {"max_position_embeddings": 40})
    @classmethod
    def from_pretrained(cls, path):
        return cls()
    def eval(self):
        return self
    def to(self, device):
        return self
    def __call__(self, references, hypotheses):
        rows = zip(hypotheses, references)
        return type("output", (), {"logits": Numbers(said(h, r) for h, r in rows)})
""",
    "torch/__init__.py": """
import contextlib
class cuda:
    is_available = staticmethod(lambda: False)
no_grad = contextlib.nullcontext
""",
    "summac/__init__.py": "",
    "summac/model_summac.py": WORDS
    + """
model_map = {"vitc": {}}
class SummaCConv:
    def __init__(self, models, device, start_file, imager_load_cache, **settings):
        assert models[0] in model_map, "Unrecognized model name"
        assert model_map[models[0]].get("entailment_idx", 2) == 2
        assert device == "cpu"
    def eval(self):
        return self
    def score(self, documents, summaries):
        return {"scores": [said(s, d) for d, s in zip(documents, summaries)]}
""",
    "pycocoevalcap/__init__.py": "",
    "pycocoevalcap/spice/__init__.py": "",
    "pycocoevalcap/spice/spice.py": WORDS
    + """
class Spice:
    def compute_score(self, references, hypotheses):
        found = [said(*hypotheses[i], " ".join(references[i])) for i in sorted(hypotheses)]
        return 0.0, [{"All": {"f": f, "pr": 1.0, "re": f}} for f in found]
""",
    "huggingface_hub/__init__.py": """
def snapshot_download(repo_id, local_files_only=False):
    raise OSError("no network here")
""",
}
VERSIONS = {"unbabel-comet": "9.1", "bleurt-pytorch": "9.2", "summac": "9.3", "pycocoevalcap": "9.4", "torch": "9.5"}


@pytest.fixture(scope="session")
def other_python(tmp_path_factory):
    """The Python of an environment with packages that stand in for the real ones."""
    folder = tmp_path_factory.mktemp("other")
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", folder], check=True)
    inside = {"base": str(folder), "platbase": str(folder)}
    site = type(folder)(sysconfig.get_path("purelib", vars=inside))
    for name, text in PACKAGES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    for package, version in VERSIONS.items():
        about = site / f"{package.replace('-', '_')}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    return folder / "bin" / "python"


@pytest.fixture
def checkpoint(tmp_path):
    """A function that writes a checkpoint as COMET lays it out, and gives its path."""

    def write(kind="regression_metric", name="model"):
        folder = tmp_path / name
        (folder / "checkpoints").mkdir(parents=True)
        (folder / "hparams.yaml").write_text(f"class_identifier: {kind}\nlayer: mix\n")
        path = folder / "checkpoints" / "model.ckpt"
        path.write_text("reference-free" if "referenceless" in kind else "a checkpoint")
        return str(path)

    return write


@pytest.fixture
def nli_folder(tmp_path):
    """A folder with the configuration of an NLI model."""
    folder = tmp_path / "nli"
    folder.mkdir()
    labels = {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"}
    (folder / "config.json").write_text(json.dumps({"id2label": labels}))
    return str(folder)
