"""Models of the papers at their true size, side by side with the packages that people run them in.

    python3.11 -m venv peer
    peer/bin/pip install unbabel-comet==2.2.7 bert-score==0.3.13 torch==2.13.0 'setuptools<80'
    NLGAUGE_DATA=PATH python benchmarks/hub.py --peer peer/bin/python     all four, segments of WMT16
    ... --only roberta-large --segments 16                                one, and fewer segments
    ... --threads 1 --clock processor                                     on a machine with other work

No weights are fetched: they are drawn at random in the true shapes, in a folder that is deleted afterwards, and take as
long as trained ones. The tokenizer has 8,000 pieces that are learnt from the texts, so that texts are about as long as
with a published one. Needed are 5 GB of disk, and 12 GB of memory for the largest.

Each side is a process of its own: bert-score, unbabel-comet or transformers in the peer's environment, in float32 and
with the faster one of two batch sizes, of which the first is the usual one; ours in float32 and, where the processor
has it, in bfloat16. All load and score a few segments before the clock starts. Then they run in turns (theirs, ours,
ours, theirs, ...), so that other work on the machine falls on all, and the ratio is the median of neighbours' ratios.
The peak of memory is the largest resident set of a process, from its start to its end, with what it mapped of files.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
PIECES = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
ROBERTA = {**LARGE, **PIECES, "max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}
DEBERTA = {**LARGE, **PIECES, **RELATIVE, "max_relative_positions": -1, "max_position_embeddings": 512}
MT5 = {"d_model": 1024, "d_kv": 64, "d_ff": 2816, "num_layers": 24, "num_decoder_layers": 24, "num_heads": 16}
MT5 |= {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "decoder_start_token_id": 0}
ENCODER = "xlm-roberta-large"  # the name by which a checkpoint of COMET has its encoder
HIDDEN = (3072, 1024)  # of the estimator of wmt22-comet-da
RATING = 250089  # the piece whose logit is MetricX's number
# name -> (package, segments, type, configuration, layer of BERTScore)
MODELS: dict[str, tuple[str, int, str, dict[str, Any], int]] = {
    "roberta-large": ("bert-score", 48, "roberta", {**ROBERTA, "vocab_size": 50265}, 17),
    "deberta-xlarge-mnli": (
        "bert-score", 24, "deberta",
        {**DEBERTA, "num_hidden_layers": 48, "type_vocab_size": 0, "layer_norm_eps": 1e-7, "vocab_size": 50265}, 40,
    ),
    "wmt22-comet-da": ("unbabel-comet", 40, "xlm-roberta", {**ROBERTA, "vocab_size": 250002}, 0),
    "metricx-24-hybrid-large": ("transformers", 24, "mt5", {**MT5, "vocab_size": 250112}, 0),
}  # fmt: skip
BATCHES = {"bert-score": (64, 4), "unbabel-comet": (16, 4), "transformers": (16, 4)}  # the usual one first
AIMS = {"float32": 2.5, "bfloat16": 4.5, "memory": 1.1}
AIMS_METRICX = {"float32": 1.5, "bfloat16": 1.5, "memory": 1.1}
SYLLABLES = "ka re tion ing mo s ed lu ment shi y al be ly tor an ness po ri e".split()


# --- Texts


def texts() -> tuple[list[dict[str, str]], str]:
    """Segments in the words of unbabel-comet (src, mt, ref), and their origin."""
    path = Path(os.environ.get("NLGAUGE_DATA", "")) / "wmt16-da-seg" / "segments.jsonl.gz"
    if os.environ.get("NLGAUGE_DATA") and path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return [{"src": row["src"], "mt": row["hyp"], "ref": row["refs"][0]} for row in rows], "WMT16, to English"
    rng = random.Random(0)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(5000)]

    def text() -> str:
        return " ".join(rng.choices(words, k=rng.randint(8, 35)))

    return [{"src": text(), "mt": text(), "ref": text()} for _ in range(2000)], "generated"


# --- Models with random weights; each is made in a process of its own, which gives its memory back


def make(name: str, folder: Path) -> None:
    """Write a model and its tokenizer."""
    import torch
    import transformers
    from safetensors.torch import save_file

    package, _, kind, shape, _ = MODELS[name]
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(kind, **shape)
    if package == "unbabel-comet":
        encoder = folder / "hub" / f"models--{ENCODER}"
        snapshot = encoder / "snapshots" / ("a" * 40)
        snapshot.mkdir(parents=True)
        (encoder / "refs").mkdir()
        (encoder / "refs" / "main").write_text("a" * 40)  # so that both sides find it under its name
        config.save_pretrained(snapshot)
        save_tokenizer(snapshot, "XLMRobertaTokenizer", "<s> $A </s>")
        with torch.device("meta"):
            model = transformers.XLMRobertaModel(config, add_pooling_layer=False)
        save_checkpoint(folder, drawn(model), config.num_hidden_layers + 1)
        return
    if kind != "mt5":
        save_tokenizer(folder, "PreTrainedTokenizerFast", "<s> $A </s>")
        with torch.device("meta"):
            model = transformers.AutoModel.from_config(config)
        config.save_pretrained(folder)
        save_file(drawn(model), folder / "model.safetensors", metadata={"format": "pt"})
        return
    save_tokenizer(folder, "PreTrainedTokenizerFast", "$A </s>")
    model = transformers.MT5ForConditionalGeneration(config).eval()
    model.lm_head.weight = torch.nn.Parameter(torch.randn(config.vocab_size, config.d_model))  # MetricX's is not tied
    ids = torch.arange(4, 40)[None]
    with torch.inference_mode():  # the rating, moved to where it is not cut off at 0 and 25
        rating = model(input_ids=ids, decoder_input_ids=torch.zeros(1, 1, dtype=torch.long)).logits[0, 0, RATING]
    model.lm_head.weight.data[RATING] *= 12 / rating.item()
    model.config.tie_word_embeddings = False  # transformers 5 sets it when the configuration is made
    model.save_pretrained(folder)


def drawn(model: Any) -> dict[str, Any]:
    """Tensors for the parameters of a model: norms are 1, other numbers small."""
    import torch

    return {
        name: torch.ones(one.shape)
        if "norm" in name.lower() and name.endswith("weight")
        else torch.empty(one.shape).uniform_(-0.03, 0.03)
        for name, one in model.named_parameters()
    }


def save_tokenizer(folder: Path, kind: str, frame: str) -> None:
    """Write a tokenizer of 8,000 pieces that are learnt from the texts."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    backend = Tokenizer(models.Unigram())
    backend.normalizer, backend.decoder = normalizers.Strip(), decoders.Metaspace()
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=8000, special_tokens=special, unk_token="<unk>", show_progress=False)
    backend.train_from_iterator([text for row in texts()[0] for text in row.values()], trainer)
    backend.post_processor = processors.TemplateProcessing(
        single=frame, pair=f"{frame} $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    backend.save(str(folder / "tokenizer.json"))
    named = {"unk": "<unk>", "pad": "<pad>", "eos": "</s>"}
    if "<s>" in frame:
        named |= {"bos": "<s>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
    about = {f"{key}_token": piece for key, piece in named.items()}
    about |= {"tokenizer_class": kind, "model_max_length": 512 if "<s>" in frame else 10**9}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")


def save_checkpoint(folder: Path, encoder: dict[str, Any], layers: int) -> None:
    """Write a checkpoint as unbabel-comet does; it is read once here, as a user's first run reads it."""
    import torch
    from torch import nn

    state = {f"encoder.model.{name}": tensor for name, tensor in encoder.items()}
    state |= {f"layerwise_attention.scalar_parameters.{i}": torch.randn(1) for i in range(layers)}
    state["layerwise_attention.gamma"] = torch.ones(1)
    state |= {"layerwise_attention.dropout_mask": torch.zeros(layers)}
    state |= {"layerwise_attention.dropout_fill": torch.full((layers,), -1e20)}
    sizes = (6 * LARGE["hidden_size"], *HIDDEN, 1)
    for i in range(3):
        linear = nn.Linear(sizes[i], sizes[i + 1])
        state |= {f"estimator.ff.{3 * i}.{key}": tensor.detach() for key, tensor in linear.named_parameters()}
    settings = {"activations": "Tanh", "class_identifier": "regression_metric", "dropout": 0.1}
    settings |= {"encoder_model": "XLM-RoBERTa", "pretrained_model": ENCODER, "load_pretrained_weights": False}
    settings |= {"final_activation": None, "hidden_sizes": list(HIDDEN), "keep_embeddings_frozen": True, "pool": "avg"}
    settings |= {"layer": "mix", "layer_norm": False, "layer_transformation": "sparsemax"}
    settings |= {"train_data": ["a.csv"], "validation_data": ["b.csv"]}
    (folder / "hparams.yaml").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
    (folder / "checkpoints").mkdir()
    kept = {"hyper_parameters": settings, "pytorch-lightning_version": "2.0.0"}
    torch.save({"state_dict": state, **kept}, folder / "checkpoints/model.ckpt")
    del state, encoder
    from nlgauge.models.checkpoints import comet_folder

    comet_folder(str(folder), "regressor.safetensors")


# --- The sides


Rows = Sequence[dict[str, str]]
Run = Callable[[Rows, int], list[float]]  # segments and a batch size -> scores


def columns(rows: Rows) -> list[list[str]]:
    return [[row[key] for row in rows] for key in ("mt", "ref", "src")]


def ours(name: str, folder: Path, dtype: str) -> Run:
    """How nlgauge scores; it takes no batch size."""
    import nlgauge as ng

    package, _, _, _, layer = MODELS[name]
    kind = {"bert-score": f"bertscore:layer={layer},", "unbabel-comet": "comet:", "transformers": "metricx:"}[package]
    spec = f'{kind}model="{folder}"'
    runtime = ng.Runtime(device="cpu", dtype=dtype)  # type: ignore[arg-type]

    def run(rows: Rows, _: int) -> list[float]:
        mt, ref, src = columns(rows)
        (scores,) = ng.score(mt, ref, srcs=src, metrics=spec, runtime=runtime).values()
        return [float(value) for value in scores.values]

    return run


def theirs(name: str, folder: Path) -> Run:
    """How the package scores."""
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    package, _, _, _, layer = MODELS[name]
    if package == "bert-score":
        from bert_score import BERTScorer

        scorer = BERTScorer(model_type=str(folder), num_layers=layer, device="cpu", use_fast_tokenizer=True)
        return lambda rows, batch: scorer.score(*columns(rows)[:2], batch_size=batch)[2].tolist()
    if package == "unbabel-comet":
        from comet import load_from_checkpoint

        comet = load_from_checkpoint(str(folder / "checkpoints/model.ckpt"), reload_hparams=True, strict=True)
        quiet = {"gpus": 0, "progress_bar": False, "num_workers": 1}
        return lambda rows, batch: comet.predict(rows, batch_size=batch, **quiet).scores
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.MT5ForConditionalGeneration.from_pretrained(folder).eval()

    def rate(rows: Rows, batch: int) -> list[float]:
        inputs = [f"source: {row['src']} candidate: {row['mt']} reference: {row['ref']}" for row in rows]
        ids = [tokenizer(text, truncation=True, max_length=1536).input_ids[:-1] for text in inputs]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))  # so that little is padded
        found = [0.0] * len(ids)
        for start in range(0, len(order), batch):
            part = order[start : start + batch]
            padded = tokenizer.pad({"input_ids": [ids[i] for i in part]}, return_tensors="pt")
            with torch.inference_mode():
                steps = torch.zeros(len(part), 1, dtype=torch.long)
                logits = model(**padded, decoder_input_ids=steps).logits[:, 0, RATING].clamp(0, 25)
            for i, rating in zip(part, logits.tolist(), strict=True):
                found[i] = rating
        return found

    return rate


def serve(options: argparse.Namespace) -> None:
    """A side: loads, and scores when a number of segments and a batch size come in; says the seconds and the scores."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print
    import torch

    torch.set_num_threads(options.threads)
    rows = json.loads((options.folder / "texts.json").read_text(encoding="utf-8"))
    if options.side == "theirs":
        run = theirs(options.only[0], options.folder)
    else:
        run = ours(options.only[0], options.folder, options.side)
    clock = time.process_time if options.clock == "processor" else time.perf_counter
    for line in sys.stdin:
        n, batch = map(int, line.split())
        start = clock()
        scores = run(rows[:n], batch)
        said = {"seconds": clock() - start, "scores": scores, "peak": peak()}
        print(json.dumps(said), file=answers, flush=True)


def peak() -> float:
    """The largest resident set of this process so far, in GB."""
    said = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(said.partition("VmHWM:")[2].split()[0]) * 1024 / 1e9


class Side:
    """The process of a side."""

    def __init__(self, python: str, side: str, options: argparse.Namespace, name: str, folder: Path) -> None:
        command = [python, str(Path(__file__).resolve()), "--side", side, "--only", name, "--folder", str(folder)]
        command += ["--threads", str(options.threads), "--clock", options.clock]
        self.peak = 0.0
        with (folder / f"{side}.log").open("w") as log:
            self.process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=log, text=True, env=around(folder))
        self.log = folder / f"{side}.log"

    def run(self, n: int, batch: int) -> tuple[float, list[float]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(n, batch, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a side ended:\n{self.log.read_text(encoding='utf-8')[-3000:]}")
        said = json.loads(line)
        self.peak = said["peak"]
        return said["seconds"], said["scores"]

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def around(folder: Path) -> dict[str, str]:
    """The environment of a process, which finds what was made and asks no hub."""
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "NLGAUGE_MODELS": str(folder / "store")}
    return {**os.environ, **offline, "HF_HUB_CACHE": str(folder / "hub"), "TOKENIZERS_PARALLELISM": "false"}


def compare(name: str, options: argparse.Namespace, folder: Path) -> None:
    """Make a model, run the sides in turns, and print a row of each."""
    package, n, *_ = MODELS[name]
    rows, origin = texts()
    n = options.segments or n
    (folder / "texts.json").write_text(json.dumps(rows[:: len(rows) // n][:n]), encoding="utf-8")
    command = [sys.executable, str(Path(__file__).resolve()), "--side", "make", "--only", name, "--folder", str(folder)]
    subprocess.run(command, env=around(folder), check=True)
    pythons = {"theirs": options.peer, "float32": sys.executable}
    if "avx512_bf16" in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        pythons["bfloat16"] = sys.executable
    sides: dict[str, Side] = {}
    for side, python in pythons.items():  # one loads after another
        sides[side] = Side(python, side, options, name, folder)
        sides[side].run(4, 4)
    batches = options.batches or BATCHES[package]
    tried = {size: sides["theirs"].run(n, size)[0] for size in batches} if len(batches) > 1 else {batches[0]: math.nan}
    batch = min(tried, key=lambda size: tried[size])
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    scores: dict[str, list[float]] = {}
    for turn in range(options.repeats):
        for side in list(sides)[:: 1 if turn % 2 == 0 else -1]:
            took, scores[side] = sides[side].run(n, batch)
            seconds[side].append(took)
    for one in sides.values():
        one.close()
    spread = max(scores["theirs"]) - min(scores["theirs"])
    by_size = ", ".join(f"{size} ({took:.2f} s)" if took == took else str(size) for size, took in tried.items())
    print(f"\n{name}: {n} segments, {origin}; {package} by batches of {by_size}; scores span {spread:.2g}")
    aims = AIMS_METRICX if package == "transformers" else AIMS
    for side, one in sides.items():
        line = f"  {package if side == 'theirs' else side:14} {min(seconds[side]):7.2f} s best, peak {one.peak:5.2f} GB"
        if side != "theirs":
            ratio = statistics.median(t / o for t, o in zip(seconds["theirs"], seconds[side], strict=True))
            memory, gaps = one.peak / sides["theirs"].peak, zip(scores[side], scores["theirs"], strict=True)
            line += f"   {ratio:5.2f} times as fast (aim {aims[side]}), memory {memory:.2f} (aim at most"
            line += f" {aims['memory']}), scores within {max(abs(a - b) for a, b in gaps):.1e}"
        print(line, flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--peer", help="python of the environment with the packages", default=sys.executable)
    arguments.add_argument("--only", choices=MODELS, action="append", help="one model; may be repeated")
    arguments.add_argument("--segments", type=int, help="instead of 24 to 48")
    arguments.add_argument("--batches", type=int, nargs="+", help="of theirs, the fastest of which is taken")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments.add_argument("--clock", choices=("wall", "processor"), default="wall")
    arguments.add_argument("--side", help=argparse.SUPPRESS)
    arguments.add_argument("--folder", type=Path, help="where models are made")
    options = arguments.parse_args()
    if options.side == "make":
        return make(options.only[0], options.folder)
    if options.side:
        return serve(options)
    asked = "from importlib.metadata import version as v\nfor name in ('torch', 'transformers'): print(name, v(name))"
    for python in (sys.executable, options.peer):
        said = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout
        print(f"{python}: {', '.join(said.splitlines())}")
    print(f"{options.threads} threads, {options.clock} seconds; load {os.getloadavg()[0]:.1f} before", flush=True)
    for name in options.only or MODELS:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            compare(name, options, Path(folder))


if __name__ == "__main__":
    main()
