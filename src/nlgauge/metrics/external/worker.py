"""The program that runs under another Python: it imports a package there, and scores what comes in as JSON lines.

It uses the standard library alone and nothing of nlgauge, from Python 3.9 on. Standard output is kept for answers: what
a package prints goes to standard error. When its input ends, because the process that started it is gone, it ends
itself and every process that it started.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import itertools
import json
import math
import os
import platform
import queue
import signal
import sys
import threading
from importlib import metadata
from typing import Any

PROTOCOL = 2
_MOST = 600  # characters of an error

Row = dict[str, Any]
Scored = dict[str, Any]  # `values`, and `parts` or `truncated` where there are any


class CometModel:
    """A checkpoint of unbabel-comet, with references or without."""

    def __init__(self, options: Row) -> None:
        comet = importlib.import_module("comet")
        path = _located(options["model"])
        if os.path.isdir(path):
            path = os.path.join(path, "checkpoints", "model.ckpt")
        self.model = comet.load_from_checkpoint(path)
        self.reads = [name for name in ("src", "ref") if name in options["reads"]]
        if "ref" not in self.reads and self.model.requires_references():
            raise ValueError("the checkpoint needs references, and reference_free is true")
        self.batch = options["batch"]
        device = options["device"]
        if device == "auto":
            device = "cuda" if importlib.import_module("torch").cuda.is_available() else "cpu"
        place: Row = {"gpus": 0, "accelerator": "cpu"}
        if device != "cpu":
            place = {"gpus": 1, "accelerator": "auto", "devices": [int(device.partition(":")[2] or 0)]}
        self.settings: Row = {"progress_bar": False, "num_workers": 0, **place}

    def score(self, rows: list[Row]) -> Scored:
        """Its predictions, and whether a text was cut."""
        samples = [{"mt": row["hyp"], **{name: row[name] for name in self.reads}} for row in rows]
        found = self.model.predict(samples, batch_size=self.batch, **self.settings)
        return {"values": list(map(float, found["scores"])), "truncated": self._truncated(samples)}

    def _truncated(self, samples: list[Row]) -> list[bool]:
        encoder = self.model.encoder
        tokenizer, most = encoder.tokenizer, encoder.max_positions
        together = hasattr(self.model.hparams, "input_segments")  # in one sequence
        cut = []
        for sample in samples:
            lengths = [len(tokenizer(text)["input_ids"]) for text in sample.values()]
            cut.append((sum(lengths) if together else max(lengths)) > most)
        return cut


class BleurtModel:
    """A checkpoint of bleurt-pytorch."""

    def __init__(self, options: Row) -> None:
        package = importlib.import_module("bleurt_pytorch")
        self.torch = importlib.import_module("torch")
        path = _located(options["model"])
        self.tokenizer = package.BleurtTokenizer.from_pretrained(path)
        self.device = _torch_device(self.torch, options["device"])
        self.model = package.BleurtForSequenceClassification.from_pretrained(path).eval().to(self.device)
        self.most = min(512, int(getattr(self.model.config, "max_position_embeddings", 512)))
        self.batch = options["batch"]

    def score(self, rows: list[Row]) -> Scored:
        """Its predictions, and whether a pair was cut."""
        values: list[float] = []
        for start in range(0, len(rows), self.batch):
            part = rows[start : start + self.batch]
            texts = [row["ref"] for row in part], [row["hyp"] for row in part]
            inputs = self.tokenizer(
                *texts, padding="longest", truncation=True, max_length=self.most, return_tensors="pt"
            ).to(self.device)
            with self.torch.no_grad():
                values += self.model(**inputs).logits.flatten().tolist()
        lengths = [len(self.tokenizer(row["ref"], row["hyp"])["input_ids"]) for row in rows]
        return {"values": values, "truncated": [length > self.most for length in lengths]}


class SummacModel:
    """The convolution of summac over the entailment of pairs of sentences."""

    def __init__(self, options: Row) -> None:
        package = importlib.import_module("summac.model_summac")
        device = _torch_device(importlib.import_module("torch"), options["device"])
        nli = options["nli"]
        if os.path.isdir(nli):  # the package takes the names of its own table alone
            with open(os.path.join(nli, "config.json"), encoding="utf-8") as file:
                labels = {name.lower(): int(i) for i, name in json.load(file)["id2label"].items()}
            places = {f"{label}_idx": labels[label] for label in ("entailment", "contradiction")}
            package.model_map["own"] = {"model_card": nli, **places}
            nli = "own"
        settings: Row = {"bins": "percentile", "granularity": "sentence", "nli_labels": "e", "agg": "mean"}
        self.model = package.SummaCConv(
            models=[nli], device=device, start_file=options["model"], imager_load_cache=False, **settings
        ).eval()

    def score(self, rows: list[Row]) -> Scored:
        """How sure it is that each summary is consistent with its document."""
        found = self.model.score([row["src"] for row in rows], [row["hyp"] for row in rows])
        return {"values": list(map(float, found["scores"]))}


class SpiceProgram:
    """SPICE of pycocoevalcap: a program in Java that parses captions into scenes."""

    def __init__(self, options: Row) -> None:
        self.program = importlib.import_module("pycocoevalcap.spice.spice").Spice()

    def score(self, rows: list[Row]) -> Scored:
        """F1 of the tuples of both scenes, with precision and recall."""
        hypotheses = {i: [_line(row["hyp"])] for i, row in enumerate(rows)}
        references = {i: list(map(_line, row["refs"])) for i, row in enumerate(rows)}
        _, found = self.program.compute_score(references, hypotheses)
        every = [one["All"] for one in found]
        parts = {name: [one[key] for one in every] for name, key in (("precision", "pr"), ("recall", "re"))}
        return {"values": [one["f"] for one in every], "parts": parts}


class Module:
    """A module of the user's: a function `score` from a list of rows to a list of numbers."""

    def __init__(self, options: Row) -> None:
        self.module = _module(options["module"])
        if not callable(getattr(self.module, "score", None)):
            raise TypeError(f"{options['module']} has no function score")

    def score(self, rows: list[Row]) -> Scored:
        """Answer a request for scores with the numbers of the user's function."""
        found = self.module.score(rows)
        if isinstance(found, (str, bytes, dict, set, frozenset)):
            raise TypeError(f"score gave a {type(found).__name__}, expected a list of {len(rows)} numbers")
        return {"values": list(map(_number, itertools.islice(found, len(rows) + 1)))}


KINDS: dict[str, Any] = {
    "comet": CometModel,
    "bleurt": BleurtModel,
    "summac-conv": SummacModel,
    "spice": SpiceProgram,
    "module": Module,
}


class Worker:
    """Answers requests: each is an object with `op`, each answer an object, with `error` where it went wrong."""

    def __init__(self) -> None:
        self.loaded: Any = None

    def answer(self, request: Row) -> Row:
        """The answer to one request."""
        found: Row = getattr(self, "op_" + str(request["op"]))(request)
        return found

    def op_hello(self, request: Row) -> Row:
        """Versions of Python and of packages, found without importing any."""
        return {"protocol": PROTOCOL, "python": platform.python_version(), "versions": _versions(request["packages"])}

    def op_import(self, request: Row) -> Row:
        """Import a module; a digest of its file, and the versions of the packages that it names."""
        module = _module(request["module"])
        versions = _versions(getattr(module, "PACKAGES", ()))
        return {"identity": "sha256:" + _digest(module.__file__)[:16], "versions": versions}

    def op_locate(self, request: Row) -> Row:
        """Identity of a model: a digest of files, or a revision of the hub. It is downloaded, but not loaded."""
        path = _located(request["model"])
        return {"identity": _revision(path) if path != request["model"] else "sha256:" + _digest(path)[:16]}

    def op_load(self, request: Row) -> Row:
        """Load what scores."""
        self.loaded = KINDS[request["kind"]](request["options"])
        return {}

    def op_score(self, request: Row) -> Row:
        """Score rows."""
        rows: list[Row] = request["rows"]
        n = len(rows)  # whoever scores may change the list
        found: Scored = self.loaded.score(rows)
        parts = found.get("parts", {})
        for column in (found["values"], *parts.values(), found.get("truncated", found["values"])):
            if len(column) != n:
                raise ValueError(f"{n} rows got {len(column)} values")
        numbers = {"values": _finite(found["values"]), "parts": {name: _finite(parts[name]) for name in parts}}
        return {**found, **numbers}


def _number(value: Any) -> float:
    """One value of a module."""
    if value is None:
        return math.nan
    sort = str(getattr(value, "dtype", type(value).__name__))
    number = hasattr(value, "__float__") and not isinstance(value, (str, bytes))
    if not number or "bool" in sort or getattr(value, "ndim", None):
        raise TypeError(f"score gave {_short(value)} for a row, expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("score gave a number beyond the range of a float") from None


def _finite(column: list[Any]) -> list[Any]:
    """A column with None for what JSON has no word for."""
    return [value if math.isfinite(value) else None for value in column]


def _short(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, (list, dict, tuple)) else repr(value)[:40]


def _line(text: str) -> str:
    return " ".join(text.split())


def _versions(packages: Any) -> Row:
    found: Row = {}
    for package in [packages] if isinstance(packages, str) else packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "absent"
    return found


def _module(name: str) -> Any:
    """A module by its name, or by the path of its file."""
    if not name.endswith(".py"):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location("nlgauge_external_module", name)
    assert spec is not None  # a path that ends in .py has one, with a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _located(model: str) -> str:
    """The path of a model: as it is given, or where the hub's client keeps it."""
    if os.path.exists(model):
        return model
    hub = importlib.import_module("huggingface_hub")
    try:
        path: str = hub.snapshot_download(repo_id=model, local_files_only=True)
    except Exception:
        try:
            path = hub.snapshot_download(repo_id=model)
        except Exception as error:
            raise OSError(f"{model!r} is no file here, and the hub does not give it: {error}") from error
    return path


def _revision(path: str) -> str:
    return "revision:" + os.path.basename(os.path.normpath(path))[:16]


def _digest(path: str) -> str:
    """A digest of a file, or of the files of a folder."""
    found = hashlib.sha256()
    files = [path]
    if os.path.isdir(path):
        files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    for name in files:
        found.update(os.path.relpath(name, path).encode("utf-8", "surrogateescape"))
        with open(name, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                found.update(block)
    return found.hexdigest()


def _torch_device(torch: Any, device: str) -> str:
    return device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"


def _end() -> None:
    """End this process, and what it started if it leads a group of its own."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _listen(requests: Any) -> None:
    """Pass requests on as they come, and end everything when there can be no more."""
    for line in sys.stdin.buffer:
        requests.put(line)
    _end()


def _said(worker: Worker, line: bytes) -> str:
    """The answer to a line, as a line: with the id of its request, so that none is taken for another."""
    asked: Any = None
    try:
        request = json.loads(line)
        asked = request["id"]
        return json.dumps({**worker.answer(request), "id": asked}, allow_nan=False)
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return json.dumps({"id": asked, "error": said[:_MOST]})


def main() -> None:
    """Answer line by line."""
    own = os.getpid()
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answers:
        os.dup2(2, 1)  # what packages print is no answer
        requests: Any = queue.Queue()
        threading.Thread(target=_listen, args=(requests,), daemon=True).start()
        worker = Worker()
        while True:
            said = _said(worker, requests.get())
            if os.getpid() != own:  # a package forked, and this copy of the process came back: one answer is enough
                os._exit(0)
            answers.write(said + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
