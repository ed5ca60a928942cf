"""Damaged files for every reader: each is read, or refused with an error of nlgauge; anything else is a fault.

    python tests/faults/fuzz.py --calls 100000            # every reader in turn, with damage drawn from a seed
    python tests/faults/fuzz.py --reader tsv --seed 7     # one reader
    python tests/faults/fuzz.py --reader tsv --atheris    # one reader, guided by coverage; needs atheris

Every format of `nlgauge.io.formats` that has a reader is here with its example. To add another reader, add a row to
`READERS`: examples of what it reads, and the call. An example is a file, or a folder as path -> content.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import itertools
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from nlgauge.audits.deviation import read_penalties
from nlgauge.core.errors import NlgaugeError
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote_always
from nlgauge.gating.gate import gate
from nlgauge.io.files import InputFile
from nlgauge.io.formats import FORMATS, named
from nlgauge.io.marked import read_marked
from nlgauge.io.parallel import open_parallel, read_raw
from nlgauge.io.read import read
from nlgauge.io.results import read_result
from nlgauge.io.scores import read_scored_pairs, read_scores
from nlgauge.io.suites.published import read_minor, read_published
from nlgauge.io.suites.suites import read_suite
from nlgauge.io.wmt.annotations import read_mqm
from nlgauge.io.wmt.items import check_answers
from nlgauge.io.wmt.mtme import read_eval_set
from nlgauge.io.wmt.submissions import read_submission
from nlgauge.io.write import Journal
from nlgauge.metrics.embedding.points import WordVectors
from nlgauge.metrics.embedding.vectors import find as find_baseline
from nlgauge.metrics.registry import metric
from nlgauge.metrics.wrapped import read_bounds
from nlgauge.models.fetch import ENCODERS
from nlgauge.models.heads import find_head
from nlgauge.report.bundle import bundle_html
from nlgauge.scoring.job import ComparisonOptions
from nlgauge.scoring.thresholds import read_thresholds
from nlgauge.scoring.workers import progress_of, total
from nlgauge.training.examples import read_triples
from nlgauge.training.infill import read_texts
from nlgauge.training.nli import read_pairs as read_nli_pairs

VERBS = ("score", "meta", "audit", "sweep", "select", "gate", "align", "synth")
SHORT = 0 if os.environ.get("NLGAUGE_SLOW") else 2  # the last two load models, which takes some seconds
Example = bytes | Mapping[str, bytes]


@dataclass(frozen=True)
class Reader:
    """A reader and what it reads.

    Attributes:
        name: of the file or folder.
        examples: sound inputs, which are damaged; or what makes them, once they are asked for.
        read: called with the path.
    """

    name: str
    examples: Sequence[Example] | Callable[[], Sequence[Example]]
    read: Callable[[str], object]


def lines(*rows: object) -> bytes:
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


OURS = {
    "id": "a", "system": "S", "seg": "1", "lp": "x-y", "src": "s t", "refs": ["r", "q"], "hyp": "h i",
    "human": {"quality": 3.5, "fluency": [1, 2]}, "context": [{"speaker": "A", "text": "hi"}], "table": [["x", "1"]],
}  # fmt: skip
MQM = (
    b"system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    b"A\td\t1\t1\tr\tin\t<v>out</v>\tStyle\tMajor\n"
)
MARKED = {"id": "a", "hyp": "h i", "spans": [{"start": 0, "end": 1, "severity": "minor", "confidence": 0.5}]}
SPANS = b"segment_id\thypothesis_segment\tstart_indices\tend_indices\terror_types\n1\th i\t0 2\t1 3\tmajor minor\n"
BESIDE = b'{"sha256": "x", "metrics": [{"spec": "m", "signature": "s", "higher_is_better": true}]}'
SACREROUGE = {"instance_id": "1", "summarizer_id": "S", "metrics": {"rouge": {"f1": 1}}}
RATING = b'A\t{"errors": [{"severity": "major", "category": "Style", "start": 1}]}\tr1\nA\tNone\n'
MINOR = (
    {"text": "a", "changed": "b", "minor": True},
    {"better": "e", "worse": "f", "expect": "same"},
    {"premise": "k", "hypothesis": "l", "label": "neutral"},
)
PENALTY = {"template": "negation", "penalty": 0.5, "task": "mt", "criterion": "adequacy"}
MTME = {
    "sources/cs-uk.txt": b"eins\nzwei\n",
    "documents/cs-uk.docs": b"news d1\ntalk d2\n",
    "references/cs-uk.refA.txt": b"one\ntwo\n",
    "system-outputs/cs-uk/A.txt": b"a1\na2\n",
    "system-outputs/cs-uk/B.txt": b"b1\nb2\n",
    "human-scores/cs-uk.mqm.seg.score": b"A\t-1\nA None\nB\t-2.5\nB\t0\n",
    "human-scores/cs-uk.mqm.sys.score": b"A -1\nB -1.25\n",
    "metric-scores/cs-uk/X-refA.seg.score": b"A 1\nA 2\nB 3\nB 4\n",
    "metric-scores/cs-uk/X-refA.sys.score": b"A 1.5\nB 3.5\n",
    "meta.json": b'{"cs-uk": {"std_ref": "refA", "std_gold": {"seg": "mqm", "sys": "mqm"}, "primary_metrics": ["X"]}}',
}
RATED_ITEM = {
    "doc_id": "cs-de_DE_#_news_#_d_#_0", "src_text": "s", "tgt_text": {"refA": "r", "A": "h"},
    "scores": {"A": {"human1": 90, "errors1": [{"start_i": 0, "end_i": 0, "severity": "minor"}], "human2": 5}},
}  # fmt: skip
ENTRY = {
    "annotation": [{"A": {"score": 70, "error_spans": [{"start_i": 0, "end_i": 3, "severity": "major"}],
                          "sliders": {"f": 1}}}],
    "item": [{"item_id": "i", "src": "s", "tgt": {"A": "h i"}}], "user_id": "u", "item_i": 0,
}  # fmt: skip
RESET = {"user_id": None, "item_i": 0, "annotation": "__RESET__"}
MENLI = b"error,id,source,ref,r,hyp_para,hyp_adv_based,hyp_adv_free\nadd,7,s,r,m,p,a,f\n"
ADVERSARIAL = {"id": "1", "phenomenon": "typo", "error": "typo", "lp": "fr-en", "src": "s", "ref": "r", "r": "m",
               "cand_para": "p", "cand_adv_ref": "a", "cand_adv_src": "b"}  # fmt: skip
PAIR = {"id": "p", "phenomenon": "name", "criterion": "adequacy", "src": "s", "ref": "r", "better": "b", "worse": "w"}
PAIRED = {**PAIR, "ref": "a cat sat", "better": "a cat sat", "worse": "a dog sat"}
PORTIONS = lines(
    {"signature": "s"}, {"taken": 2, "state": {"n": 1}, "rows": [{"id": "1"}]}, {"taken": 4, "state": {}, "rows": []}
)
HEAD = {
    "__metadata__": {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "nli",
        "encoder": "embedded",
        "encoder_sha256": ENCODERS["embedded"].sha256,
    },
    "t": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
}
SPECS = ("chrf:word_order=2,beta=3", "bleu:tokenize=13a,smooth_method=\"exp\"", '0.3*bleu + 0.7*chrf[norm=none]', "ter",
         "rougeL", "2*ter[norm=zscore]", 'scores:file="x.tsv",column=m')  # fmt: skip

EVAL = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
SAMPLE = {
    "id": "q", "epoch": 1, "input": [{"role": "user", "content": "x"}], "target": ["y"], "attachments": {"a": "z"},
    "output": {"completion": "attachment://a"}, "scores": {"s": {"value": "C"}, "d": {"value": {"e": "0.5"}}},
}  # fmt: skip
PROMPTFOO = {
    "promptIdx": 0, "testIdx": 0, "provider": {"id": "x"}, "prompt": {"label": "a"}, "vars": {"w": "hi"},
    "response": {"output": "hi"}, "success": True, "score": 1, "failureReason": 0, "namedScores": {"t": 0.8},
    "gradingResult": {"componentResults": [{"assertion": {"type": "equals", "value": "{{w}}"}}]},
}  # fmt: skip

TRACE = {
    "info": {"trace_id": "tr-1", "state": "OK", "trace_metadata": {"mlflow.modelId": "m"}, "assessments": [
        {"assessment_name": "a", "assessment_id": "1", "feedback": {"value": True}, "source": {"source_type": "HUMAN"}},
        {"assessment_name": "a", "span_id": "2b3358eea177f3ee", "feedback": {"value": {"k": "yes"}}, "overrides": "1"},
        {"assessment_name": "expected_response", "expectation": {"serialized_value": {"value": '["B"]'}}},
    ]},
    "data": {"spans": [{"span_id": "KzNY7qF38+4=", "parent_span_id": None, "attributes": {
        "mlflow.spanInputs": '{"q": "x"}', "mlflow.spanOutputs": '{"choices": [{"message": {"content": "y"}}]}',
    }}]},
}  # fmt: skip
EVENT = {"run_id": "r", "event_id": 0, "sample_id": "s"}
EVENTS = (
    {"spec": {"completion_fns": ["m"], "eval_name": "e", "run_id": "r"}},
    {**EVENT, "type": "sampling", "data": {"prompt": [{"role": "user", "content": "x"}], "sampled": ["y"]}},
    {**EVENT, "type": "match", "data": {"correct": True, "expected": ["z", 1], "sampled": "y"}},
    {**EVENT, "type": "metrics", "data": {"score": 0.5, "choice": "__invalid__"}},
    {"final_report": {}},
)


def evaluated() -> Sequence[Example]:
    """An archive of inspect_ai, with a sample in pieces."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(EVAL))
        archive.writestr("samples/q_epoch_1.json", json.dumps(SAMPLE))
        archive.writestr("samples/r_epoch_1/sample.json", json.dumps({**SAMPLE, "id": "r"}))
        archive.writestr("samples/r_epoch_1/attachments/0.json", '["a long text"]')
    return [sink.getvalue()]


@cache
def details() -> tuple[bytes, ...]:
    """Details of lighteval."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    doc = {"query": "q", "choices": ["a", "b"], "gold_index": [0], "id": "0", "task_name": "t|0"}
    said = {"text": ["x", "y"], "text_post_processed": None, "logprobs": [0.5]}
    row = {"doc": doc, "model_response": said, "metric": {"em": 1.0, "bleu": {"golds": ["a"], "preds": ["x"]}}}
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row, row]), sink, compression="none")
    return (sink.getvalue(),)


@cache
def parquets() -> tuple[bytes, ...]:
    """Parquet files with columns of many types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [
        pa.table({"hyp": ["a", "b"], "refs": [["x"], ["y", "z"]], "human": [{"q": 1.0}, {"q": None}]}),
        pa.table({"id": ["a", "b"], "system": ["S", "T"], "seg": ["1", "1"], "m": [0.5, None]}),
        pa.table({"hyp": [b"a", b"\xff"], "ref": ["x", None], "id": [1, 2]}),
        pa.table({"id": [b"a", b"\xfe"], "m": [b"1", b"2"], "n": [True, False]}),
        pa.table({"system": pa.array(["S", "S"]).dictionary_encode(), "m": pa.array([1, 2], pa.timestamp("s"))}),
    ]
    made = []
    for table in tables:
        sink = io.BytesIO()
        pq.write_table(table, sink, compression="none")
        made.append(sink.getvalue())
    return tuple(made)


def head(path: str) -> object:
    """A head whose header is the file."""
    header = Path(path).read_bytes()
    made = Path(path).with_suffix(".safetensors")
    made.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    return find_head(str(made), "nli")


@cache
def made() -> Mapping[str, bytes]:
    """Files of our own writers by name: results of verbs, rows of segments and of pairs."""
    from nlgauge.cli.main import main as nlgauge

    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        rows = []
        for system, item in itertools.product("abcd", range(8)):
            hyp = f"the {rng.choice(['cat', 'dog'])} {item} {rng.choice(['sat', 'sits', 'lay'])} on a mat"
            row = {"id": f"{system}{item}", "system": system, "seg": str(item), "lp": "de-en", "hyp": hyp}
            rows.append({**row, "refs": [f"the cat {item} sat on a mat"], "human": {"quality": rng.random()}})
        Path(folder, "d.jsonl").write_bytes(lines(*rows))
        Path(folder, "p.jsonl").write_bytes(lines(PAIRED, {**PAIRED, "id": "q", "better": "a cat sat on"}))
        Path(folder, "x.txt").write_text("The cat saw 5 dogs in Paris.\nIt rains.\n")
        for typed in (
            "score {}/d.jsonl -m chrf -m 0.5*chrf+0.5*ter --significance bootstrap --pairs --draws 20"
            " --json {}/score.json --segments {}/rows.tsv",
            "meta {}/d.jsonl -m chrf -m ter --draws 20 --disagree 2 --json {}/meta.json",
            "audit --suite {}/p.jsonl -m chrf --json {}/audit.json --segments {}/pairs.tsv",
            "sweep {}/d.jsonl -m chrf --with ter --suite {}/p.jsonl --weights 0:1:0.5 --json {}/sweep.json",
            "select {}/d.jsonl -m chrf --hybrids 200 --pool 20 --json {}/select.json",
            "gate {}/d.jsonl --base-system a -m chrf --save {}/kept.json",
            "gate {}/kept.json {}/d.jsonl --new-system b -m chrf --inconclusive pass --allow 90 --json {}/gate.json",
            *("align --hyp a --ref b --json {}/align.json", "synth {}/x.txt -o {}/t.jsonl --json {}/synth.json")[
                SHORT:
            ],
        ):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                code = nlgauge([word.replace("{}", folder) for word in typed.split()])
            assert code == 0, (typed, said.getvalue())
        return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def results() -> list[Example]:
    """Results of verbs."""
    return [made()[f"{verb}.json"] for verb in VERBS if f"{verb}.json" in made()]


@cache
def runs() -> list[Example]:
    """Folders of runs in parts: one of plain metrics, one with a metric that takes something from all segments."""
    from nlgauge.io.spans import Inputs
    from nlgauge.metrics.registry import named
    from nlgauge.runtime.runtime import Runtime
    from nlgauge.scoring.parts import Scorer, make_plan
    from nlgauge.scoring.workers import score_in_parts

    def score(plan: Any, folder: Path, parts: Any) -> Iterator[int]:
        yield from map(Scorer(plan, folder).score, parts)

    found = []
    for specs in (["chrf", "wer", "rougeL"], ["cider"]):
        with tempfile.TemporaryDirectory() as folder:
            data, run = Path(folder, "d.jsonl"), Path(folder, "run")
            row = {"lp": "x-y", "ref": "a b"}
            data.write_bytes(lines(*({**row, "id": str(i), "system": "AB"[i % 2], "hyp": f"a {i}"} for i in range(4))))
            score_in_parts(make_plan(Inputs(str(data)), named(specs), Runtime(), rows=2), run, score, Runtime())
            inside = [path for path in run.rglob("*") if path.is_file() and path.name != "lock"]
            found.append({str(path.relative_to(run)): path.read_bytes() for path in inside})
    return found


@cache
def models() -> list[Example]:
    """The folder of a small model of the hub's kind, whose configuration and tokenizer are damaged."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
        config = BertConfig(
            vocab_size=len(words), hidden_size=4, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4,
            max_position_embeddings=8,
        )  # fmt: skip
        BertModel(config).save_pretrained(folder)
        whole = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    odd = {"auto_map": {"AutoModel": "evil.Model"}, "trust_remote_code": True, "_name_or_path": "x"}
    odd |= {"quantization_config": {"quant_method": "x"}}
    return [whole, {**whole, "config.json": json.dumps({**json.loads(whole["config.json"]), **odd}).encode()}]


def page(path: str) -> object:
    """The page that shows a result."""
    return bundle_html({path: read_result(path)}, "t", None)


def gated(path: str) -> object:
    """A verdict on new texts beside a baseline."""
    Path(f"{path}.jsonl").write_bytes(made()["d.jsonl"])
    return gate(path, f"{path}.jsonl", metrics="chrf", new_system="b", draws=100)


def thresholds() -> list[Example]:
    """The shipped table, cut to two curves of few draws, as if it had seen few segments."""
    shipped = json.loads(files("nlgauge.data").joinpath("thresholds", "translation.json").read_bytes())
    kept = [one for one in shipped["metrics"] if one["spec"] in ("chrf", "yisi0")]
    return [lines({**shipped, "metrics": [{**one, "n": [1, 1000], "draws": one["draws"][:5]} for one in kept]})]


def apply_thresholds(path: str) -> object:
    """Thresholds, and what they say of a result."""
    from nlgauge.scoring.thresholds import with_agreement

    table = read_thresholds(path)
    Path(f"{path}.result").write_bytes(made()["score.json"])
    return with_agreement(read_result(f"{path}.result"), table, {"chrf": {1}})


def run_of(folder: str) -> object:
    """How far a run is, and what it adds up to."""
    return progress_of(Path(folder)), total([Path(folder)]), total([Path(folder)], ComparisonOptions(intervals=True))


def pretrained(folder: str) -> object:
    """What a folder says of a model, and the vectors that it gives."""
    from nlgauge.models.locate import locate
    from nlgauge.runtime.runtime import Runtime

    files = locate(folder)
    told = files.notes, files.depth, files.is_paired, files.reads_left_to_right, files.facts()
    cosine = metric(f"cosine:model={quote_always(folder)}")
    return told, cosine.score([Segment(id="1", hypothesis="a b", references=("a",))], Runtime(device="cpu"))


def pickled(path: str) -> object:
    """The tensors of a file of torch.save."""
    from nlgauge.models.pickled import convert

    found = Path(path)
    convert({"model.safetensors": found}, found.parent, {})
    return (found.parent / "model.safetensors").stat().st_size


def journal(path: str) -> object:
    """What a run takes up from its part."""
    opened = Journal(path.removesuffix(".part"), {"signature": "s"})
    try:
        return list(opened.rows())
    finally:
        opened._file.close()


def scores_beside(folder: str) -> object:
    """Scores with a file beside them that says which direction they have."""
    return read_scores(f"{folder}/a.tsv")


LINEAR = {
    "format": "nlgauge-linear", "version": 1, "kind": "blend", "intercept": 0.1, "criterion": "da", "low": -2.5,
    "data": "my ratings", "terms": [{"name": "chrf", "weight": 0.5, "mean": 40.0, "sd": 10.0},
                                    {"name": "0.5*ter + 0.5*wer", "weight": 0.2, "mean": -60.0, "sd": 20.0}],
}  # fmt: skip
BATCH = {
    "samples": [
        {"source": "s", "summary": summary, "sample_id": i, "annotations": [{"label": [label]}]}
        for i, (summary, label) in enumerate([("one", "Benign"), ("two", "Unwanted.Intrinsic")])
    ]
}


def saved(zipped: bool) -> bytes:
    """A small state as torch.save writes it, in the form of today or in the older one."""
    import torch

    held = io.BytesIO()
    weights = torch.arange(6.0).reshape(2, 3)
    state = {"a.weight": weights, "tied": weights, "b": weights.t(), "c": torch.ones(2, dtype=torch.int64)}
    torch.save({"state_dict": state, "epoch": 1}, held, _use_new_zipfile_serialization=zipped)
    return held.getvalue()


PLAN = b"seg\torder\tprobability\tround\tbefore\n1\t0\t0.5\t0\t0.0\n2\t1\t0.25\t0\t0.0\n"

ANSWERED = json.loads(FORMATS["Answers to WMT26"].example["a.jsonl"])["item_id"]
ANSWERABLE = [Segment(s, t, system=s, item=ANSWERED) for s, t in (("A", "h i"), ("B", "j"))]
MORE: dict[str, Sequence[Example] | Callable[[], Sequence[Example]]] = {  # format -> what its example does not show
    "JSON": [json.dumps([OURS, {"hyp": "a", "ref": "b", "id": 2}]).encode()],
    "TSV": [b'hyp\trefs\tcontext\nh\t["a"]\t[]\n'],
    "CSV": [b"sentence1,sentence2,label\na,b,1\n"],
    "Parquet": parquets,
    "inspect_ai": evaluated,
    "promptfoo": [lines(PROMPTFOO)],
    "lighteval": details,
    "MLflow traces": [lines(TRACE, TRACE), json.dumps({"traces": [TRACE]}, indent=1).encode()],
    "openai/evals": [lines(*EVENTS)],
    "Scores of any program": [lines(SACREROUGE)],
    "Annotations of Pearmut": [lines(ENTRY, RESET, ENTRY), json.dumps({"c": [ENTRY]}).encode()],
    "Items of WMT25 and WMT26": [lines(RATED_ITEM)],
}
MADE = {"Parquet": "a.parquet", "lighteval": "details_t_2026.parquet"}  # by programs alone -> a name


def example_of(title: str) -> list[Example]:
    """The example of a format whose reader asks for more than a path."""
    return [content.encode() for content in FORMATS[title].example.values()]


def of_format(title: str) -> Reader:
    """The reader of a format, with its example."""
    one, more = FORMATS[title], MORE.get(title, ())
    files = {name: content.encode() for name, content in one.example.items()}
    told: list[Example] = [files] if one.folder else [*files.values()]
    name = "folder" if one.folder else next(iter(files), MADE.get(title, "none"))
    return Reader(
        name, (lambda: [*told, *more()]) if callable(more) else [*told, *more], named(one.reads) if one.reads else read
    )


READERS: dict[str, Reader] = {
    **{title: of_format(title) for title, one in FORMATS.items() if one.rows or one.held or one.reads},
    "result": Reader("r.json", results, page),
    "thresholds": Reader("t.json", thresholds, apply_thresholds),
    "baseline of a gate": Reader("b.json", lambda: [made()["kept.json"]], gated),
    "rows": Reader("r.tsv", lambda: [made()["rows.tsv"]], read_scores),
    "rows of pairs": Reader("p.tsv", lambda: [made()["pairs.tsv"]], read_scored_pairs),
    "run": Reader("run", runs, run_of),
    "blend": Reader("b.json", [json.dumps(LINEAR).encode()], lambda path: metric(f"blend:model={quote_always(path)}")),
    "model": Reader("m", models, pretrained),
    "pickled": Reader("weights.bin", [saved(True), saved(False)], pickled),
    "wmt26 answers": Reader("a.jsonl", example_of("Answers to WMT26"), lambda path: check_answers(path, ANSWERABLE)),
    "pearmut spans": Reader("p.jsonl", [lines(ENTRY)], read_marked),
    "faithbench": Reader("f.json", [json.dumps(BATCH).encode()], lambda path: read_published("faithbench", path)),
    "vectors": Reader("v.txt", [b"2 3\na 1 2 3\nb 4 5 6\n", b"a 1 2\n"], lambda path: WordVectors(path)),
    "jsonl": Reader("a.jsonl", [lines(OURS), lines({"hyp": "a", "ref": "b"}, {"hyp": "", "refs": []})], read),
    "raters": Reader("a.csv", [b"seg,system,rater,hyp,human.q\n1,A,x,a,1\n1,A,y,a,2\n2,A,x,b,3\n"], read),
    "scores by raters": Reader("a.csv", [b"seg,system,rater,q\n1,A,x,1\n1,A,y,2\n2,A,x,3\n"], read_scores),
    "renamed": Reader("a.csv", [b"text,gold\na,b\n"], lambda path: read(path, columns={"hyp": "text", "ref": "gold"})),
    "mqm": Reader("a.tsv", [MQM], lambda path: read_mqm(path).scores()),
    "mtme": Reader("set", [MTME], lambda path: read_eval_set(path, "cs-uk")),
    "parallel": Reader(
        "texts",
        [{"h": b"a\nb\n", "r": b"c\nd\n"}],
        lambda path: list(open_parallel([f"{path}/h"], [f"{path}/r"]).blocks()),
    ),
    "scores tsv": Reader("a.tsv", [b"id\tsystem\tseg\tlp\tm\na\tS\t1\tx-y\t0.5\nb\tT\t1\tx-y\tNone\n"], read_scores),
    "scores csv": Reader("a.csv", [b"system,seg,m\nS,1,2\n", b'system,m\n"S",2\n'], read_scores),
    "scores parquet": Reader("a.parquet", parquets, read_scores),
    "scores beside": Reader("s", [{"a.tsv": b"id\tm\na\t1\n", "a.tsv.meta.json": BESIDE}], scores_beside),
    "seg.score": Reader(
        "m.seg.score",
        [b"BLEU\tcs-uk\tset1\tnews\td1\trefA\tS.1\t2\t0.5\n", b"BLEU cs-uk set1 S.1 2 0.5\n"],
        read_scores,
    ),
    "submission": Reader(
        "m.sys.score", [b"BLEU\tcs-uk\tset1\tall\trefA\tS.1\t30.5\n", b"BLEU cs-uk set1 S 3\n"], read_submission
    ),
    "mtme scores": Reader("cs-uk.X-refA.seg.score", [b"A\t-1\nA None\nB\t2\nB 1e3\n"], read_scores),
    "marked": Reader("m.jsonl", [lines(MARKED, {**MARKED, "spans": None})], read_marked),
    "marked ratings": Reader("a.seg.rating", [RATING.replace(b": 1}", b': 1, "end": 2}')], read_marked),
    "marked tables": Reader("m.tsv", [SPANS, MQM], read_marked),
    "minor": Reader("m.jsonl", [lines(*MINOR)], read_minor),
    "raw": Reader("t.txt", [b"one sentence\nanother\n\nlast"], read_raw),
    "suite": Reader("s.jsonl", [lines(PAIR), lines(ADVERSARIAL)], read_suite),
    "suite csv": Reader("s.csv", [MENLI, b"better,worse,ref\nb,w,r\n"], read_suite),
    "suite tsv": Reader(
        "s.tsv",
        [b"better\tworse\tref\nb\tw\tr\n", b"id\tsentence1\tsentence2\tlabel\n1\ta\tb\t0\n2\ta\tc\t1\n"],
        read_suite,
    ),
    "journal": Reader("x.jsonl.part", [PORTIONS], journal),
    "penalties": Reader("p.json", [lines(PENALTY)], read_penalties),
    "penalties tsv": Reader(
        "p.tsv", [b"task\tcriterion\ttemplate\tpenalty\nmt\tadequacy\tnegation\t0.5\n"], read_penalties
    ),
    "triples": Reader(
        "t.jsonl",
        [lines({"hyp": "a", "refs": ["b"], "score": -5.0}, {"hyp": "a", "ref": "b", "score": 0})],
        lambda path: read_triples(InputFile(path)),
    ),
    "nli pairs": Reader(
        "n.jsonl",
        [lines({"premise": "a", "hypothesis": "b", "label": "neutral"})],
        lambda path: read_nli_pairs(InputFile(path)),
    ),
    "sentences": Reader("s.txt", [b"a b c\n\nd e\n"], lambda path: read_texts([InputFile(path)])),
    "bounds": Reader("b.json", [b'{"bounds": {"chrf": [0, 100]}}'], lambda path: read_bounds(path, "chrf")),
    "baseline": Reader(
        "b.tsv", [b"LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.1,0.2,0.3\n"], lambda path: find_baseline(path, "m", "en")
    ),
    "head": Reader("h.json", [json.dumps(HEAD).encode()], head),
    "head file": Reader("h.safetensors", [bytes(8) + json.dumps(HEAD).encode()], lambda path: find_head(path, "nli")),
    "specification": Reader(
        "spec", [spec.encode() for spec in SPECS], lambda path: metric(Path(path).read_text("utf-8", "surrogateescape"))
    ),
}
TOKENS = [token.encode("utf-8", "surrogatepass") for token in (
    "NaN", "nan", "null", "None", "true", "[]", "{}", "[", "]", "{", "}", '"', '""', "\\ud800", "\\u0000", ",", ":",
    "\t", "\n", "\r", "\r\n", "\0", " ", "\ufeff", "\u2028", "\x85", "²", "٣", "1e400", "-1e400", "1" * 30, "9" * 400,
    "1" * 5000, "0x1", "1_000", "-0", "-1", "0", "1", "0.5", "inf", "-Infinity", "é", "\U0001f600", "\u202e",
    "\ud800", "[" * 2000, '{"a":' * 2000, "../", "A", "a", '"hyp"', '"refs"', '"human"', '"score"', '"id"', '"lp"',
    "hyp", "ref", "system", "seg", "lp", "refA", "*", "+", "=", "norm=", "<v>", "</v>", "PAR1", "'", ";",
)]  # fmt: skip

ODD = (
    None, True, -1, 0, 1.5, 2**63, -(2**63), 10**400, 1e308, "", "x", "0", "nan", "../x", "\ud800", "a\nb", "\0",
    "a\rb", "9" * 5000, "1*(" * 2000, "chrf", [], {}, [[]], [None], [1, "x"], {"x": 1},
)  # fmt: skip


def examples_of(reader: Reader) -> Sequence[Example]:
    """What is damaged."""
    return reader.examples() if callable(reader.examples) else reader.examples


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A file with one to four faults."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        content = rng.choice(FAULTS)(content, rng)
    return content


def _flip(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def _insert(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice(TOKENS) + content[place:]


def _replace(content: bytes, rng: random.Random) -> bytes:
    """A word, number or quoted text becomes something else."""
    found = list(re.finditer(rb'"[^"]*"|[\w.\-]+', content))
    if not found:
        return rng.choice(TOKENS)
    start, end = rng.choice(found).span()
    return content[:start] + rng.choice(TOKENS) + content[end:]


def _value(content: bytes, rng: random.Random) -> bytes:
    """A value of JSON becomes one of another type, or a name becomes another."""
    rows = content.split(b"\n")
    place = rng.randrange(len(rows))
    for part in (content, rows[place]):
        try:
            tree = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(tree, dict | list) and (path := _path(tree, rng)):
            encoded = json.dumps(changed(tree, path, rng.choice(ODD))).encode()
            return encoded if part is content else b"\n".join([*rows[:place], encoded, *rows[place + 1 :]])
    return _replace(content, rng)


def _path(tree: Any, rng: random.Random) -> list[Any]:
    """The keys that lead to a value somewhere in a tree."""
    path: list[Any] = []
    while isinstance(tree, dict | list) and tree and (not path or rng.random() < 0.8):
        path.append(rng.choice(list(tree) if isinstance(tree, dict) else range(len(tree))))
        tree = tree[path[-1]]
    return path


def changed(tree: Any, path: Sequence[Any], value: Any) -> Any:
    """A copy of a tree with another value at a place."""
    if not path:
        return value
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[path[0]] = changed(tree[path[0]], path[1:], value)
    return copy


def _cut(content: bytes, rng: random.Random) -> bytes:
    start, end = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    return rng.choice((content[:start], content[end:], content[:start] + content[end:]))


def _move_lines(content: bytes, rng: random.Random) -> bytes:
    rows = content.split(b"\n")
    row = rng.choice(rows)
    return b"\n".join(rng.choice(([*rows, row], [row, *rows], [r for r in rows if r != row], rows[::-1])))


def _random(content: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(rng.randrange(40))


FAULTS = (_flip, _insert, _replace, _replace, _value, _value, _value, _insert, _cut, _move_lines, _random)


def damaged_example(reader: Reader, rng: random.Random) -> Example:
    """An example with faults; of a folder in one of its files, which may also be missing or have another name."""
    example = rng.choice(examples_of(reader))
    if isinstance(example, bytes):
        return damaged(example, rng)
    files = dict(example)
    name = rng.choice(list(files))
    kind = rng.randrange(12)
    if kind == 0:
        del files[name]
    elif kind == 1:
        files[damaged(name.encode(), rng).decode("utf-8", "replace").replace("\0", "")[:100].lstrip("/.") or "x"] = (
            files.pop(name)
        )
    else:
        files[name] = damaged(files[name], rng)
    return files


def written(reader: Reader, example: Example, folder: str) -> str:
    """The path of an example in a folder."""
    path = os.path.join(folder, reader.name)
    if isinstance(example, bytes):
        with open(path, "wb") as file:
            file.write(example)
        return path
    shutil.rmtree(path, ignore_errors=True)
    for name, content in example.items():
        place = os.path.normpath(os.path.join(path, name))
        if place.startswith(path + os.sep):
            with contextlib.suppress(OSError, ValueError):  # a name that is a file already, or too long
                os.makedirs(os.path.dirname(place), exist_ok=True)
                Path(place).write_bytes(content)
    os.makedirs(path, exist_ok=True)
    return path


def fault_of(reader: Reader, example: Example, folder: str) -> BaseException | None:
    """What comes out of the reader besides a value and an error of nlgauge."""
    path = written(reader, example, folder)
    try:
        reader.read(path)
    except NlgaugeError as error:
        of_one_line = "\n" not in str(error) or isinstance(example, Mapping)  # names of files are shown as they are
        return None if of_one_line else AssertionError(f"of several lines: {error!r}")
    except Exception as error:
        return error
    return None


def run(names: Sequence[str], calls: int, seed: int) -> int:
    """Damage, read and count; the number of faults of different kinds."""
    found: collections.Counter[str] = collections.Counter()
    slowest, total, begun = (0.0, ""), 0, time.perf_counter()
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=shared) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            reader, started = READERS[name], time.perf_counter()
            for i in range(calls):
                example = damaged_example(reader, random.Random(f"{seed} {name} {i}"))
                before = time.perf_counter()
                fault = fault_of(reader, example, folder)
                slowest = max(slowest, (time.perf_counter() - before, f"{name} {i}"))
                if fault is not None:
                    last = traceback.extract_tb(fault.__traceback__)[-1:] or [None]
                    ours = [f for f in traceback.extract_tb(fault.__traceback__) if "nlgauge" in f.filename] or last
                    where = f"{ours[-1].filename.rpartition('nlgauge/')[2]}:{ours[-1].lineno}" if ours[-1] else ""
                    kind = f"{name}: {type(fault).__name__} at {where}"
                    if not found[kind]:
                        print(
                            f"{kind}: {str(fault)[:200]!r}, call {i}, seed {seed}\n    {str(example)[:600]}", flush=True
                        )
                    found[kind] += 1
            total += calls
            print(f"{name:16} {calls} calls, {time.perf_counter() - started:.0f} s", flush=True)
    print(
        f"{total} calls, {time.perf_counter() - begun:.0f} s; slowest {slowest[0]:.2f} s ({slowest[1]});"
        f" faults: {sum(found.values())} of {len(found)} kinds"
    )
    return len(found)


def guided(name: str) -> None:
    """Damage that atheris guides by what the reader's code does with it; it goes on until a fault, or its own limit."""
    import atheris

    reader = READERS[name]
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    atheris.instrument_all()

    def once(data: bytes) -> None:
        example: Example = data
        first = examples_of(reader)[0]
        if not isinstance(first, bytes):
            files = dict(first)
            files[list(files)[(data[:1] or b"\0")[0] % len(files)]] = data[1:]
            example = files
        fault = fault_of(reader, example, folder)
        if fault is not None:
            raise fault

    atheris.Setup([sys.argv[0], *rest], once)
    atheris.Fuzz()


rest: list[str] = []


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", action="append", choices=READERS, help="one reader; can be repeated")
    parser.add_argument("--calls", type=int, default=20_000, help="per reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true", help="guided by coverage; what follows goes to atheris")
    chosen, more = parser.parse_known_args()
    if chosen.atheris:
        rest.extend(more)
        guided((chosen.reader or ["jsonl"])[0])
        return 0
    return 1 if run(chosen.reader or list(READERS), chosen.calls, chosen.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
