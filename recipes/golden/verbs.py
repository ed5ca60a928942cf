"""What every verb of the command says and writes on small inputs, kept in a folder to compare before with after.

    python recipes/golden/verbs.py before                     # everything; some minutes on one core
    python recipes/golden/verbs.py after --only score meta    # the runs whose names begin so, and all they need
    python recipes/golden/verbs.py --compare before after     # which files differ, and how

Each run has a folder `runs/NAME` with what was typed (`command.txt`), `stdout.txt`, `stderr.txt`, `exit.txt` and the
files it wrote; `python/` has what the package gives to Python, `inputs/` what was read. `verbs_typed.py` says what is
typed, `verbs_inputs.py` what is read: texts and numbers made for this script.

Normalised is only what must vary: the paths of folders, the versions, device and sizes that `doctor` names, and binary
files, which are kept as text: `.gz` unpacked, Parquet as JSON lines, `.safetensors` as the names, shapes and digests of
its tensors. A trace of a bug is kept as its last line, since its other lines are about places in the source.
"""

from __future__ import annotations

import os

# Before anything loads numpy or torch: one thread, so that sums have one order; nothing is fetched; lines of one width.
os.environ.update(
    {
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "COLUMNS": "160",
        "LINES": "24",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
)

import argparse
import contextlib
import dataclasses
import difflib
import gzip
import hashlib
import inspect
import io
import json
import pkgutil
import re
import runpy
import shlex
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from verbs_inputs import OTHERS, TALK, TEXTS, swaps, write_inputs, write_lines
from verbs_typed import NEURAL, commands

DIFF_LINES = 12  # of each file that differs, unless --lines says otherwise


# --- runs


def run_command(name: str, typed: str) -> None:
    """One run of the command in this process, with its streams and files in `runs/NAME`."""
    folder = Path("runs", name)
    folder.mkdir(parents=True)
    words, stdin = split(typed.replace("made/", f"runs/{name}/"))
    (folder / "command.txt").write_text(f"nlgauge {typed}\n", encoding="utf-8")
    stdout, stderr = io.StringIO(), io.StringIO()
    before = sys.argv, sys.stdin
    sys.argv, code = ["nlgauge", *words], 0
    with contextlib.ExitStack() as stack:
        given = stack.enter_context(open(stdin or os.devnull, "rb"))
        sys.stdin = io.TextIOWrapper(given, encoding="utf-8")
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))
        try:
            runpy.run_module("nlgauge", run_name="__main__")  # what `python -m nlgauge` runs
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        except BaseException as error:
            code = 1
            stderr.write("".join(traceback.format_exception_only(error)))
        finally:
            sys.argv, sys.stdin = before
    shown = placeless(stdout.getvalue())
    (folder / "stdout.txt").write_text(doctored(shown) if words[:1] == ["doctor"] else shown, encoding="utf-8")
    (folder / "stderr.txt").write_text(placeless(stderr.getvalue()), encoding="utf-8")
    (folder / "exit.txt").write_text(f"{code}\n", encoding="utf-8")


def split(typed: str) -> tuple[list[str], str | None]:
    """Words as a shell has them, and the file behind `<`."""
    words = shlex.split(typed)
    if "<" in words:
        place = words.index("<")
        return words[:place], words[place + 1]
    return words, None


def placeless(text: str) -> str:
    """Without the folder all this lies in, and that of the package."""
    import nlgauge

    for path, name in (
        (os.getcwd(), "OUT"),
        (os.environ["NLGAUGE_CACHE"], "CACHE"),
        (str(Path(nlgauge.__file__).parent), "PACKAGE"),
        (sys.prefix, "PYTHON"),
        (str(Path.home()), "HOME"),
    ):
        text = text.replace(path, name) if len(path) > 1 else text
    return text


def doctored(text: str) -> str:
    """What `doctor` says but for the facts of the machine: which packages are named stays, their versions do not."""
    text = re.sub(r"^device .*", "device       ...", text, flags=re.MULTILINE)
    text = re.sub(r"Python [^,]*, .*", "Python ...", text)
    text = re.sub(r"[\d.]+ MB", "... MB", text)
    text = re.sub(r"(?<=CACHE/scores.sqlite: ).*", "...", text)  # as many scores as the runs before have left
    return re.sub(r"(?<=\s)\d+(\.\d+)+[^,\s]*", "VERSION", text)


def as_text(folder: Path) -> None:
    """Binary files as text that a diff can show."""
    for path in sorted(folder.rglob("*")):
        beside = path.with_name(path.name + ".txt")
        if path.suffix == ".gz":
            beside.write_bytes(gzip.decompress(path.read_bytes()))
        elif path.suffix == ".parquet":
            import pyarrow.parquet as parquet

            write_lines(
                beside,
                [json.dumps(row, ensure_ascii=False, default=str) for row in parquet.read_table(path).to_pylist()],
            )
        elif path.suffix == ".safetensors":
            beside.write_text(json.dumps(head_of(path), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        else:
            continue
        path.unlink()


def head_of(path: Path) -> dict[str, Any]:
    """The header of a file of tensors, with a digest for the bytes of each."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8 : 8 + size])
    for name, entry in head.items():
        if name != "__metadata__":
            start, end = entry.pop("data_offsets")
            entry["sha256"] = hashlib.sha256(raw[8 + size + start : 8 + size + end]).hexdigest()
    return dict(sorted(head.items()))


# --- Python


def plain(value: Any) -> Any:
    """Values of the package as JSON has them."""
    import nlgauge as ng

    if isinstance(value, ng.Signature):
        return str(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if not f.name.startswith("_")}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(plain(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if callable(value):
        return "a function"
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def or_refusal(make: Callable[[], Any]) -> Any:
    """What is made, or what the package says against it."""
    import nlgauge as ng

    try:
        return plain(make())
    except ng.NlgaugeError as error:
        return {"refused": type(error).__name__, "says": placeless(str(error))}


def names_in(listed: str, until: str | None = None) -> list[str]:
    """The names that a list of the command gives: the first column of a table, or what stands before a colon.

    Lists of metrics and perturbations are tables today; at version 0.1.0 they were lines of `name: summary`.
    """
    lines = listed.split("\n")
    if len(lines) > 1 and set(lines[1]) == {"-", " "}:
        rows = lines[2 : lines.index("")]  # a blank line ends the table
        return [line.split()[0] for line in rows]
    if until is not None:
        lines = lines[1 : lines.index(until)]
    depth = min(len(line) - len(line.lstrip()) for line in lines if line)
    return [line.strip().partition(": ")[0] for line in lines if line and len(line) - len(line.lstrip()) == depth]


def python_surface() -> dict[str, Callable[[], Any]]:
    """Name -> what is asked of the package in Python."""
    import nlgauge as ng

    runtime = ng.Runtime(device="cpu", cache=None)
    weather, rated = ng.read("inputs/weather.jsonl"), ng.read("inputs/rated.jsonl")
    listed = {
        kind: Path("runs", f"list-{kind}", "stdout.txt").read_text(encoding="utf-8")
        for kind in ("metrics", "perturbations", "statistics")
    }
    specs = names_in(listed["metrics"])
    hyps, refs, srcs = [swaps(t, i) for i, t in enumerate(TEXTS)], [[t] for t in TEXTS], list(TEXTS)

    def surface() -> Any:
        found = {}
        for name in sorted(ng.__all__):
            value = getattr(ng, name)
            if not callable(value):
                continue
            try:
                parameters = inspect.signature(value).parameters.values()
            except (TypeError, ValueError):
                continue
            found[name] = [
                f"{p.kind.description}: {p.name}" + ("" if p.default is p.empty else f" = {p.default!r}")
                for p in parameters
            ]
        return {
            "names": sorted(ng.__all__),
            "parameters": {k: [re.sub(r" at 0x\w+", "", x) for x in v] for k, v in found.items()},
        }

    def doors() -> Any:
        packages = [f"nlgauge.{found.name}" for found in pkgutil.iter_modules(ng.__path__) if found.ispkg]
        offered = {name: import_module(name) for name in packages}
        return {
            name: {"all": sorted(one.__all__), "dir": dir(one)}
            for name, one in offered.items()
            if hasattr(one, "__all__")
        }

    def metrics() -> Any:
        made = {
            spec: or_refusal(lambda spec=spec: {"repr": repr(ng.metric(spec)), "info": ng.metric(spec).info})
            for spec in specs
        }
        return {**made, "sums": or_refusal(lambda: repr(ng.metric("0.5*chrf + 0.5*ter[norm=zscore]")))}

    def signatures() -> Any:
        more = [
            "bertscore:idf=true",
            "bertscore:layer=2,value=precision",
            "nli:formula=e-c,direction=backward",
            "summac:variant=e-c",
            "sescore:references=best",
            'regressor:model="runs/train-regressor-frozen/head.safetensors"',
            "bleu:average=sentence",
            "0.3*chrf + 0.7*bertscore",
            'scores:file="inputs/ratings.tsv",column=style',
        ]
        few = ng.Dataset(tuple(rated)[:3])
        return {
            spec: or_refusal(
                lambda spec=spec: {
                    "signature": str((one := ng.score(few, metrics=[spec], runtime=runtime)[spec]).signature),
                    "values": one.values,
                }
            )
            for spec in [s for s in specs if not s.startswith("paper/")] + more
        }

    def scores() -> Any:
        wanted = ["bleu", "chrf", "chrf++", "ter", "rouge1", "rouge2", "rougeL", "rougeLsum", *NEURAL]
        return ng.score(hyps, refs, srcs, metrics=wanted, runtime=runtime)

    def several() -> Any:
        found = ng.score({"a": hyps[:4], "b": list(TEXTS[:4])}, refs[:4], metrics="chrf")["chrf"]
        return {"ids": found.ids, "values": found.values, "system": found.system, "some": found.take([0, 2]).values}

    def perturbations() -> Any:
        found: dict[str, Any] = {}
        for name in names_in(listed["perturbations"]):
            found[name] = {}
            for seed in (0, 1):

                def made(name: str = name, seed: int = seed) -> Any:
                    outcomes = ng.perturb(
                        name,
                        list(TEXTS),
                        seed=seed,
                        ids=[f"t{i}" for i in range(len(TEXTS))],
                        context=[TALK] * len(TEXTS),
                        speakers=["A"] * len(TEXTS),
                        pool=[*OTHERS],
                        references=[[OTHERS[i]] if i < 10 else [] for i in range(len(TEXTS))],
                    )
                    return [
                        {"reason": reason}
                        if one is None
                        else {"text": one.text, "edits": one.edits, "expect": one.expect, "meta": one.meta}
                        for one, reason in zip(outcomes, outcomes.reasons, strict=True)
                    ]

                found[name][f"seed {seed}"] = or_refusal(made)
        return found

    def suites() -> Any:
        made = {
            "checklist": ng.suite("checklist", weather, task="d2t", criterion="fluency", seed=1),
            "menli": ng.suite("menli", weather, limit=4),
            "read": ng.read_suite("inputs/aces.tsv"),
        }
        return {
            name: {"suite": one, "phenomena": one.phenomena, "groups": one.groups, "n": len(one)}
            for name, one in made.items()
        }

    def audits() -> Any:
        found = ng.audit(ng.read_suite("inputs/adversarial.jsonl"), ["chrf", "nli"], runtime=runtime)
        return {"rows": found.rows, "notes": found.notes, "worst": found.worst("chrf", 2), "design": found.design}

    def coefficients() -> Any:
        place = np.arange(40)
        x = ((place * 7919 * 3 + 104729) % 1009 / 1009).round(2).reshape(4, 10)
        z = (x + ((place * 7919 * 5 + 104729) % 1009 / 1009).reshape(4, 10)).round(1)
        gap, binary = np.where(place.reshape(4, 10) % 9 == 5, np.nan, z), (z > 0.9).astype(float)
        items, sets = [str(i % 10) for i in place], ["one"] * 2 + ["two"] * 2
        found: dict[str, Any] = {}
        for stat in names_in(listed["statistics"], "of model selection (nlgauge select)"):
            second = binary if stat == "auc" else z
            calls: dict[str, tuple[Any, ...]] = {
                "vectors": (x.ravel(), second.ravel()),
                "items": (x.ravel(), second.ravel(), items),
                "grid": (x, second),
                "systems": (x.mean(axis=1), second.mean(axis=1), sets),
                "gaps": (x, np.where(np.isnan(gap), np.nan, second)),
            }
            ways: dict[str, dict[str, Any]] = {
                "plain": {},
                "falls": {"higher_is_better": False},
                "system level": {"level": "system"},
                "by system": {"averaging": "sys"},
            }
            found[stat] = {
                f"{call}, {way}": or_refusal(
                    lambda given=given, options=options, stat=stat: ng.correlation(stat, *given, **options)
                )
                for call, given in calls.items()
                for way, options in ways.items()
            }
        return found

    def evaluations() -> Any:
        theirs = {segment.id: len(segment.hypothesis) / 10 for segment in rated}
        found = ng.meta_evaluate(
            rated,
            ["chrf", "ter"],
            "adequacy",
            "system",
            ["pearson", "kendall_b"],
            scores={"length": theirs},
            test="auto",
            draws=99,
        )
        return {"rows": found.rows, "notes": found.notes, "chrf": found.value("chrf", stat="pearson")}

    def selections() -> Any:
        found = ng.select_models(rated, "chrf", "adequacy", hybrids=100, pool=5, draws=50)
        return {"rows": found.rows, "notes": found.notes}

    def syntheses() -> Any:
        found = {}
        for name, options in {
            "as shipped": {"seed": 1},
            "lexicon": {"infill": "lexicon", "severity": "none", "variants": 3},
            "graded": {"severity": "graded", "judge": "nli", "operations": "replace"},
        }.items():
            made = ng.synthesize(list(TEXTS), runtime=runtime, **options)
            found[name] = {"made": list(made), "reasons": made.reasons, "signature": made.signature}
        return found

    def data() -> Any:
        paths = (
            "weather.jsonl",
            "dialogue.jsonl",
            "rated.tsv",
            "rated.csv",
            "mqm.tsv",
            "summeval.jsonl",
            "wmt-da",
            "mtme",
        )
        read = {path: ng.read(f"inputs/{path}") for path in paths}
        return {
            path: {
                "segments": tuple(one)[:3],
                "n": len(tuple(one)),
                "systems": one.systems,
                "groups": one.groups,
                "notes": one.notes,
            }
            for path, one in read.items()
        }

    def errors() -> Any:
        return {
            "lengths": or_refusal(lambda: ng.score(["a", "b"], ["a"], metrics="bleu")),
            "metric": or_refusal(lambda: ng.metric("rogue")),
            "perturbation": or_refusal(lambda: ng.perturb("negatoin", "It rains.")),
            "statistic": or_refusal(lambda: ng.correlation("pearsen", [1, 2], [1, 2])),
            "suite": or_refusal(lambda: ng.suite("menly", weather)),
            "file": or_refusal(lambda: ng.read("inputs/nowhere.jsonl")),
            "duplicate": or_refusal(lambda: ng.Suite((ng.Pair(id="1", phenomenon="p", better="a", worse="b"),) * 2)),
        }

    return {
        "surface": surface,
        "doors": doors,
        "metrics": metrics,
        "signatures": signatures,
        "score": scores,
        "score-systems": several,
        "perturb": perturbations,
        "suite": suites,
        "audit": audits,
        "correlation": coefficients,
        "meta_evaluate": evaluations,
        "select_models": selections,
        "synthesize": syntheses,
        "read": data,
        "errors": errors,
        "align": lambda: ng.align(OTHERS[0], TEXTS[0], "bertscore:layer=3", runtime),
    }


def run_python(wanted: Callable[[str], bool]) -> None:
    """What is asked in Python, a file each; what fails by a bug leaves its last line, and the others go on."""
    Path("python").mkdir()
    for name, make in python_surface().items():
        if wanted(f"python-{name}"):
            with told(f"python-{name}"):
                try:
                    found = plain(make())
                except Exception as error:
                    found = {"bug": "".join(traceback.format_exception_only(error))}
                    print(f"python-{name}: {found['bug']}", file=sys.stderr)
                shown = placeless(json.dumps(found, indent=1, ensure_ascii=False))
                Path("python", f"{name}.json").write_text(shown + "\n", encoding="utf-8")


# --- the whole, and what differs


@contextlib.contextmanager
def told(name: str) -> Iterator[None]:
    """Say what takes long, on stderr alone: no time goes into the folder."""
    began = time.perf_counter()
    yield
    took = time.perf_counter() - began
    if took > 1:
        print(f"{took:6.1f} s  {name}", file=sys.stderr)


def record(out: Path, only: Sequence[str]) -> None:
    """Everything into an empty folder, which is the working folder meanwhile."""
    if out.exists() and any(out.iterdir()):
        raise SystemExit(f"{out} is not empty; name a new folder")
    out.mkdir(parents=True, exist_ok=True)
    sys.path[:] = [os.path.abspath(path) for path in sys.path]  # else PYTHONPATH=src would mean another folder
    os.chdir(out)
    # a warning names a file and a line, which are no fact about results
    warnings.showwarning = lambda message, category, *_, **__: print(f"{category.__name__}: {message}", file=sys.stderr)
    typed, chosen = commands(), chooser(only)
    needed = {name for one in typed for name in re.findall(r"runs/([\w-]+)/", typed[one]) if chosen(one)}
    needed |= {f"list-{kind}" for kind in ("metrics", "perturbations", "statistics")} | {"train-regressor-frozen"}
    if "doctor-cache" in filter(chosen, typed):
        needed.add("score-cache-first")  # else there is nothing in that cache
    write_inputs(Path("inputs"))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NLGAUGE_CACHE"] = cache
        for name, line in typed.items():
            if chosen(name) or name in needed:
                with told(name):
                    run_command(name, line)
        run_python(chosen)
    shutil.rmtree("kept", ignore_errors=True)  # a cache is no text, and its numbers stand in the results
    as_text(Path("runs"))
    codes = [path.read_text().strip() for path in sorted(Path("runs").glob("*/exit.txt"))]
    print(
        f"{len(codes)} runs: " + ", ".join(f"{codes.count(code)} with exit code {code}" for code in sorted(set(codes)))
    )
    wrong = [
        p.parent.name
        for p in sorted(Path("runs").glob("*/exit.txt"))
        if not _expected(p.parent.name, p.read_text().strip())
    ]
    if wrong:
        print(f"not with the exit code that their name tells: {', '.join(wrong)}")


def chooser(only: Sequence[str]) -> Callable[[str], bool]:
    """Whether a run is wanted, by how its name begins; every one where nothing is named."""
    return lambda name: not only or name.startswith(tuple(only))


def _expected(name: str, code: str) -> bool:
    if name.startswith("refused-"):
        return code == "2"
    return code == ("3" if name in ("gate", "score-gate-failed") else "0")


def compare(one: Path, other: Path, most: int, chosen: Callable[[str], bool]) -> int:
    """Print which files of chosen runs differ or are in one folder alone; gives their number."""

    def run_of(name: Path) -> str:
        return f"python-{name.stem}" if name.parts[0] == "python" else name.parts[min(1, len(name.parts) - 1)]

    found_in = [{p.relative_to(folder) for p in folder.rglob("*") if p.is_file()} for folder in (one, other)]
    names = [{str(name) for name in found if chosen(run_of(name))} for found in found_in]
    differing = 0
    for name in sorted(names[0] | names[1]):
        if name not in names[0] or name not in names[1]:
            differing += 1
            print(f"== {name}: only in {one if name in names[0] else other}\n")
            continue
        before, after = ((folder / name).read_bytes() for folder in (one, other))
        if before == after:
            continue
        differing += 1
        lines = [raw.decode("utf-8", "backslashreplace").splitlines() for raw in (before, after)]
        found = list(difflib.unified_diff(*lines, f"{one}/{name}", f"{other}/{name}", lineterm="", n=1))
        print(f"== {name}: differs, {sum(line[0] in '+-' for line in found[2:])} lines")
        print("\n".join(line[:300] for line in found[2 : 2 + most]))
        print(f"... {len(found) - 2 - most} more lines\n" if len(found) - 2 > most else "")
    print(f"{differing} of {len(names[0] | names[1])} files differ")
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", metavar="OUT", help="a new folder")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only runs whose names begin so")
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("A", "B"), help="two folders; exit code 1 where they differ"
    )
    parser.add_argument("--lines", type=int, default=DIFF_LINES, help="of each difference")
    arguments = parser.parse_args()
    if arguments.compare:
        return 1 if compare(*arguments.compare, arguments.lines, chooser(arguments.only)) else 0
    if arguments.out is None:
        parser.error("name a folder, or two with --compare")
    began = time.perf_counter()
    record(arguments.out.resolve(), arguments.only)
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
