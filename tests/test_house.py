"""The house: who may import whom, what is public, what is heavy, and which test holds which module."""

from __future__ import annotations

import ast
import gc
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import nlgauge
from nlgauge.core.doors import homes

SOURCE = Path(nlgauge.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "stats": {"core.arrays", "core.doors", "core.errors", "core.options", "core.plugins"},
    "text": {"core"},
    "io": {"core"},
    "report": {"core", "stats.shares"},  # intervals of means that a page draws of segments
    "runtime": {"core"},
    "models": {"core", "runtime"},
    "metrics": {"core", "stats", "text", "runtime", "models", "io.frames", "io.scores"},  # tables and stored scores
    "perturbations": {"core", "stats", "text", "runtime", "models"},
    "audits": {"core", "io", "stats", "text", "runtime", "metrics", "perturbations"},
    # texts with marked errors, as their readers give them
    "metaeval": {"core", "io.frames", "io.scores", "io.marked.texts", "stats", "runtime", "metrics", "audits"},
    "gating": {"core", "io", "stats", "runtime", "metrics"},
    "choosing": {*"core io.frames stats text runtime metrics perturbations audits metaeval.align".split()},
    "training": {"core", "io", "stats", "runtime", "models", "metrics", "perturbations"},
    "scale": {"core", "io", "stats", "runtime", "metrics"},
    "testing": {"core", "text.scripts", "runtime", "metrics", "perturbations"},
    "plugin": {"core", "gating", "metrics", "report", "runtime", "stats.gates"},
    "adapters": {"core", "metrics", "runtime", "training.meters"},
    "data": set(),
}
# Rooms and single modules of a package -> those of the same package that they may import.
ROOMS: dict[str, dict[str, set[str]]] = {
    "stats": {
        "spans": set(),
        "draws": set(),
        "grids": set(),
        "shares": {"draws"},
        "correlation": {"draws", "shares"},
        "intervals": {"draws", "grids", "correlation"},
        "differences.swaps": {"draws", "grids", "correlation"},
        "differences": {"draws", "grids", "shares", "correlation", "intervals", "differences.swaps"},
        "systems": {"draws"},
        "gates": {"draws", "shares", "differences"},
        "ratings": {"draws", "shares", "correlation"},
    },
    "text": {
        "wordlists": set(),
        "scripts": {"wordlists"},
        "identification": set(),
        "functionwords": {"scripts", "wordlists"},
        "doc": set(),
        "words": set(),
        "tokenize": set(),
        "porter": set(),
        "substrings": set(),
        "tagging": {"doc"},
        "sentences": {"wordlists"},
        "units": {"tokenize", "words"},
        "lexicon": {"wordlists"},
        "names": {"doc", "lexicon", "wordlists"},
        "numbers": {"lexicon", "sentences", "wordlists"},
        "backends": {"doc", "lexicon", "names", "sentences", "words"},
        "languages": {"backends", "doc", "lexicon", "names", "sentences", "tagging", "words"},
        "english": {"doc", "languages", "lexicon", "names", "tagging", "wordlists"},
    },
    "io": {
        "files": set(),
        "fields": set(),
        "heads": set(),
        "raters": set(),
        "cards": {"files", "logs"},
        "verdicts": {"files", "logs"},
        "formats": {"files"},
        "logs": {"files", "heads", "jsonl", "parquet", "source"},
        "marked": {"files", "jsonl", "wmt"},
        "source": {"fields", "files", "raters"},
        "frames": {"fields", "parquet", "raters"},
        "selected": {"source"},
        "jsonl": {"files"},
        "delimited": {"fields", "files"},
        "parquet": {"fields", "files"},
        "summeval": {"files", "jsonl", "source"},
        "parallel": {"fields", "files", "formats", "heads", "source", "wmt"},
        "preferences": {"files", "jsonl"},
        "suites": {"files", "frames", "jsonl"},
        "wmt": {"files", "jsonl", "source"},
        "spans": {"fields", "files", "jsonl", "parallel", "parquet", "read", "selected", "source"},
        "beside": {"files"},
        "results": {"files", "jsonl"},
        "scores": {*"beside fields files formats frames jsonl parallel parquet raters wmt".split()},
        "scored_pairs": {"files", "scores"},
        "read": {"files", "formats", "frames", "heads", "parquet", "raters", "source"},
        "raw": {"files", "formats", "parallel", "read"},
        "write": {"parquet"},
    },
    "perturbations": {
        "checklist": set(),
        "base": set(),
        "spacing": set(),
        "registry": {"base"},
        "draft": {"base"},
        "perturb": {"base", "registry"},
        "words": {"base", "draft"},
        "surface": {"base", "draft"},
        "paraphrase": {"base", "perturb"},
        "synthesis": {"base", "draft", "spacing", "words"},
        "clauses": {"base", "draft", "registry", "surface", "words"},
        "questions": {"base", "draft", "synthesis"},
        "scenes": {"base", "clauses", "draft", "words"},
    },
    "models": {
        "workers": set(),
        "finite": set(),
        "locate": set(),
        "features": set(),
        "lazy": set(),
        "base": set(),
        "embedded": set(),
        "heads": {"finite", "locate"},
        "tokens": {"locate"},
        "packing": {"finite", "locate", "tokens"},
        "pairs": {"locate", "tokens"},
        "vectors": {"locate", "tokens"},
        "hub": {"finite", "locate", "packing", "tokens"},
        "matching": {"tokens", "vectors", "workers"},
        "wordfeatures": set(),
        "taggers": {"heads", "packing", "tokens", "wordfeatures"},
        "spans": {"encoder", "heads", "lazy", "pairs", "taggers", "tokens", "wordfeatures", "workers"},
        "classifiers": {"heads", "hub", "locate", "packing", "tokens"},
        "encoder": {"hub", "locate", "packing", "tokens", "vectors", "workers"},
        "pooled": {"encoder", "tokens", "vectors", "workers"},
        "matched": {"encoder", "features", "matching", "pooled", "tokens", "vectors", "workers"},
        "seq2seq": {"encoder", "hub", "locate", "tokens"},
        "generation": {"encoder", "hub", "locate", "tokens", "workers"},
        "entailment": {"classifiers", "encoder", "heads", "lazy", "locate", "pairs", "tokens", "workers"},
        "regressor_files": {"features", "heads", "locate", "vectors"},
        "crossed": {"classifiers", "encoder", "lazy", "pairs", "regressor_files", "workers"},
        "regressor": {
            *("crossed", "encoder", "features", "lazy", "matched", "packing", "pooled", "regressor_files", "tokens"),
            "vectors",
        },
        "infill": {"encoder", "heads", "hub", "lazy", "locate", "packing", "seq2seq", "tokens", "workers"},
    },
    "metrics": {
        "references": set(),
        "languagecounts": set(),
        "base": set(),
        "embedding.languages": set(),
        "unknown": set(),
        "external.elsewhere": set(),
        "languages": {"languagecounts"},
        "embedding.sharing": {"base"},
        "lexical": {"base", "references"},
        "function": {"base"},
        "judging": {"base"},
        "scales": {"base"},
        "generation": {"base", "languages", "references", "unknown"},
        "nli": {"base", "languages", "references", "unknown"},
        "scoring.run": {"base", "embedding.sharing"},
        "edits": {"base", "lexical", "references"},
        "wrapped": {"base", "embedding.sharing", "references", "scoring.run"},
        "embedding": {
            *"base embedding.languages embedding.sharing languages references scales scoring.run unknown".split()
        },
        "combine": {"base", "scales", "scoring.run", "wrapped"},
        "guards": {"base", "wrapped"},
        "looks": {"guards", "languages"},
        "registry": {"base", "combine", "embedding.languages", "external.elsewhere", "function", "guards"},
        "embedding.alignment": {"base", "embedding", "registry"},
        "lexical.ngrams.qmetric": {"base", "lexical", "registry", "wrapped"},
        "catalogue": {"base", "registry"},
        "external": {"base", "external.elsewhere", "lexical", "references", "registry", "unknown"},
        "shipped": {"base", "guards", "registry"},
        "scoring": {"base", "catalogue", "guards", "languages", "looks", "registry", "scoring.run"},
        "stored": {"external"},
        "ratings": {"base", "registry"},
        "learned": {
            *"base combine embedding embedding.sharing languages lexical".split(),
            *"references registry scales scoring.run shipped unknown wrapped".split(),
        },
        "explaining": {"scoring", "nli"},
        "comparing": {"base", "guards", "languages", "looks", "registry", "scoring"},
        "scoring.accumulate": {"base", "registry", "scoring"},
        "scoring.job": {*"base comparing guards languages looks registry scales scoring scoring.run".split()},
    },
    "metaeval": {
        "align": set(),
        "design": set(),
        "scoring": {"align"},
        "frames": {"align"},
        "thresholds": {"align"},
        "rows": {"align"},
        "mixing": {"align", "scoring"},
        "measure": {"frames"},
        "gains": {"rows"},
        "protocols": {"rows"},
        "intervals": {"frames", "measure"},
        "sweep_rows": {"gains", "mixing", "rows"},
        "compare": {"frames", "intervals", "measure"},
        "tasks": {"align", "compare", "frames", "intervals", "measure", "protocols", "rows"},
        "protocols.controls": {"align", "intervals", "protocols", "rows", "tasks"},
        "matrices": {"align", "intervals", "protocols", "rows", "tasks"},
        "options": {"compare", "frames", "intervals", "protocols", "scoring"},
        "evaluate": {*"align compare frames intervals measure protocols protocols.controls rows scoring tasks".split()},
        "sweeps": {"align", "evaluate", "gains", "intervals", "mixing", "scoring", "sweep_rows"},
        "select": {"align", "evaluate", "frames", "rows"},
        "layers": {"evaluate"},
        "span_texts": set(),
        "spans": {"span_texts"},
        "span_methods": set(),
        "plan": {"align", "design", "evaluate", "frames"},
        "pooling": {"evaluate", "gains", "mixing", "rows", "sweep_rows", "sweeps"},
    },
    "report": {
        "labels": set(),
        "colours": set(),
        "paths": set(),
        "difference": set(),
        "rows": set(),
        "buckets": set(),
        "figure": set(),
        "html": {"labels"},
        "plots": {"labels"},
        "table": {"labels"},
        "flat": {"table"},
        "paper": {"labels", "table"},
        "trust": {"rows"},
        "junit": {"labels", "rows"},
        "maps": {"colours", "rows"},
        "strips": {"plots", "rows"},
        "alignment": {"colours", "html", "labels"},
        "ladder": {"html", "labels", "paths", "rows"},
        "explanation": {"html", "labels"},
        "kinds": {
            *"colours difference explanation figure flat html labels maps paper plots rows strips table trust".split()
        },
        "figures": {"buckets", "colours", "figure", "kinds", "labels", "maps", "plots", "rows", "trust"},
        "text": {"flat", "kinds", "paper", "table", "trust"},
        "notebook": {"rows", "table", "text"},
        "pages": {"html", "kinds", "paper", "paths", "text"},
        "write": {"pages", "text"},
        "bundle": {*"alignment buckets colours figure figures flat html kinds labels pages paths rows trust".split()},
    },
}
EVERYTHING = ("cli", "__init__", "__main__")  # the door, which may import all

MODELS = {"torch", "transformers", "tokenizers", "safetensors", "huggingface_hub"}
LIBRARIES = {  # what only some packages may import, wherever in a module
    **{library: {"models", "training"} for library in MODELS},
    "huggingface_hub": {"models", "training", "io"},  # data sets of the hub
    "sacrebleu": {"metrics"},
    "ot": {"metrics"},
    "scipy": {"stats", "metrics", "metaeval"},
    "msgspec": {"io", "scale"},
    "pyarrow": {"io"},
    "jinja2": {"report"},
    "lemminflect": {"text"},
    "py3langid": {"text"},
    "zstandard": {"io"},
    "peft": {"training"},
    "typer": {"cli"},
    "rich": {"cli"},
    "pytest": {"plugin"},
    "mlflow": {"adapters"},
    "inspect_ai": {"adapters"},
}
STRAYS = {
    ("metrics/external/answers.py", "msgspec"): "an answer of a worker is data from outside, as a file is",
    ("cli/doctor.py", "torch"): "doctor says which device would be used",
    ("runtime/precision.py", "torch"): "the device decides what dtype=auto takes",
}
NOT_IN_BASE = MODELS | {"ot", "peft", "pyarrow", "pandas", "matplotlib", "bert_score", "rouge_score"}
NOT_IN_BASE |= {"polars", "datasets", "mlflow", "inspect_ai", "evaluate", "torchmetrics"}

HELD_ELSEWHERE = {  # a module without a test file of its own -> the tests that go through all of its functions
    "report/alignment/layout.py": "report/alignment/test_svg.py",  # where things stand is seen in what is drawn
    "report/alignment/sides.py": "report/alignment/test_svg.py report/alignment/test_text.py",
    "report/paper.py": "report/test_text.py",  # a paper is seen in what is written on it
    "report/kinds/explain.py": "core/test_explanation.py report/explanation/test_lines.py report/kinds/test_kind.py",
    "report/kinds/align.py": "report/kinds/test_kind.py report/alignment/test_page.py",
    "metrics/embedding/points/matched.py": "metrics/embedding/test_moverscore.py metrics/embedding/test_wmd.py",
    "metrics/embedding/points/worded.py": "metrics/embedding/test_pooledvectors.py metrics/embedding/test_wmd.py",
    "metrics/embedding/points/stopwords.py": "metrics/embedding/test_moverscore.py",
    "metrics/learned/model.py": "metrics/learned/test_sescore.py metrics/learned/test_regressor.py",
    "training/learner.py": "training/test_regressor.py",  # what a network says of a batch, seen in what it learns
    "training/network.py": "training/test_regressor.py",
    "training/regressor_files.py": "training/test_regressor.py",
    "stats/differences/swaps/groups.py": "stats/differences/swaps/test_ranks.py stats/differences/test_permutation.py",
    "choosing/candidates.py": "choosing/test_expected.py choosing/test_known.py",
    "choosing/costs.py": "choosing/test_expected.py",
    "choosing/decide.py": "choosing/test_choose.py",  # a decision and its words are seen in whole situations
    "choosing/measure.py": "choosing/test_choose.py",
    "choosing/words.py": "choosing/test_choose.py",
    "stats/differences/result.py": "stats/differences/test_permutation.py stats/differences/test_williams.py",
    "metaeval/sweep_rows.py": "metaeval/test_sweeps.py",  # rows of every kind, seen in a whole sweep
}

NOT_HELD_WHOLE: set[str] = set()  # seen only from above: what calls them is tested, not all that they do

PUBLIC = {
    "Accumulator",
    "Alignment",
    "Dataset",
    "InputError",
    "Metric",
    "MetricInfo",
    "MissingExtra",
    "NlgaugeError",
    "Pair",
    "Perturbed",
    "Runtime",
    "ScoreWarning",
    "Scores",
    "Segment",
    "Signature",
    "SpecError",
    "Suite",
    "__version__",
    "align",
    "audit",
    "choose",
    "compare",
    "correlation",
    "explain",
    "gate",
    "list_metrics",
    "meta_evaluate",
    "metric",
    "perturb",
    "plan_ratings",
    "read",
    "read_suite",
    "score",
    "select_models",
    "suite",
    "sweep",
    "synthesize",
}


def package(path: Path) -> str:
    """The package of a module, or its own name where it lies at the top."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def imports(held: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything imported, also inside functions; of `from a.b import c` both a.b and a.b.c."""
    for node in held:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")
            if node.module == "nlgauge":
                yield from ((node.lineno, f"nlgauge.{alias.name}") for alias in node.names)


@cache  # not at the import of this file, which every worker collects
def trees() -> dict[Path, ast.Module]:
    """Module -> its syntax."""
    gc.disable()  # nothing here goes in circles, and two thirds of the time would go into looking for them
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
    finally:
        gc.enable()


@cache  # most of the time of this file goes into walks
def nodes() -> dict[Path, list[ast.AST]]:
    """Module -> all nodes of its syntax."""
    return {path: list(ast.walk(tree)) for path, tree in trees().items()}


@cache
def all_imports() -> list[tuple[Path, int, str]]:
    """Module, line and dotted name of everything that the package imports."""
    return [(path, line, target) for path, held in nodes().items() for line, target in imports(held)]


def test_every_package_has_a_place_in_the_order():
    found = {package(path) for path in MODULES}
    assert found <= MAY_IMPORT.keys() | set(EVERYTHING)


def test_the_order_has_no_way_back():
    seen: list[str] = []
    while len(seen) < len(MAY_IMPORT):
        ready = [
            p for p, below in MAY_IMPORT.items() if p not in seen and {b.partition(".")[0] for b in below} <= set(seen)
        ]
        assert ready, "packages import each other in a circle"
        seen += ready


def test_imports_go_one_way_and_by_full_names():
    faults = []
    for path, line, target in all_imports():
        own = package(path)
        top, _, rest = target.partition(".")
        if not top:
            faults.append(f"{name(path)}:{line} imports relatively, expected the full name")
        elif top == "nlgauge" and rest and own not in EVERYTHING:
            allowed = MAY_IMPORT[own] | {own}
            if not any(rest == a or rest.startswith(f"{a}.") for a in allowed):
                faults.append(f"{name(path)}:{line} imports {target}; {own} may import {sorted(allowed)}")
    assert not faults


def files_imported() -> dict[str, set[str]]:
    """File -> the files that it imports, wherever in it and also for type checkers alone."""
    by_module = {".".join(("nlgauge", *path.relative_to(SOURCE).with_suffix("").parts)): path for path in MODULES}
    by_module = {module.removesuffix(".__init__"): name(path) for module, path in by_module.items()}
    found: dict[str, set[str]] = {file: set() for file in by_module.values()}
    for path, held in nodes().items():
        imported = found[name(path)]
        for node in held:
            targets = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):  # of `from a import b` the module a.b where there is one, else a
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [target if target in by_module else str(node.module) for target in full]
            imported |= {by_module[target] for target in targets if target in by_module}
    return found


def test_no_files_import_each_other_in_a_circle():
    TopologicalSorter(files_imported()).prepare()  # raises a CycleError with the files of a circle


def room(rooms: dict[str, set[str]], dotted: str) -> str:
    """The room of a module by its dotted name inside the package; the innermost where rooms lie in rooms."""
    return max((r for r in rooms if dotted == r or dotted.startswith(f"{r}.")), key=len, default="")


def test_rooms_of_a_package_import_one_way():
    faults = []
    for path, line, target in all_imports():
        rooms, (own, _, inside) = ROOMS.get(package(path)), name(path).partition("/")
        if rooms is None or path.stem == "__init__":
            continue
        here = room(rooms, inside.removesuffix(".py").replace("/", "."))
        assert here, f"{name(path)} is in no room of ROOMS"
        there = room(rooms, target.removeprefix(f"nlgauge.{own}.")) if target.startswith(f"nlgauge.{own}.") else here
        if there and there != here and there not in rooms[here]:
            faults.append(f"{name(path)}:{line} imports {target}; {here} may import {sorted(rooms[here])}")
    assert not faults


@pytest.mark.parametrize("rooms", ROOMS.values(), ids=ROOMS)
def test_rooms_have_no_way_back(rooms):
    seen: set[str] = set()
    while len(seen) < len(rooms):
        ready = {r for r, below in rooms.items() if r not in seen and below <= seen}
        assert ready, "rooms import each other in a circle"
        seen |= ready


def test_libraries_come_in_by_their_own_door():
    found = {(name(path), package(path), target.partition(".")[0]) for path, _, target in all_imports()}
    strays = {
        (where, library) for where, own, library in found if library in LIBRARIES and own not in LIBRARIES[library]
    }
    assert strays == STRAYS.keys()


def test_what_is_no_part_of_the_base_is_imported_only_when_used():
    """At the top of a module it would be loaded with it; models are themselves loaded late."""
    faults = []
    for path, tree in trees().items():
        if package(path) not in ("models", "training"):
            top = list(imports(node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)))
            faults += [
                f"{name(path)}:{line} imports {target} at its top"
                for line, target in top
                if target.partition(".")[0] in NOT_IN_BASE
            ]
    assert not faults


def test_nothing_heavy_is_loaded_before_it_is_needed():
    """In one process, for what is loaded stays: the first step after which something heavy is there loaded it."""
    steps = (
        "import nlgauge",
        "[getattr(nlgauge, name) for name in nlgauge.__all__]",
        "from nlgauge.cli.main import main; main(['--help'])",
        "main(['score', '--help'])",
        "main(['list', 'metrics'])",
        "nlgauge.score(['a'], ['b'], metrics=['bleu', 'chrf', 'ter', 'rougeL'])",
        "import nlgauge.testing",
    )
    told = "print('\\nloaded', *{m.partition('.')[0] for m in sys.modules})"
    code = "import sys\n" + "".join(f"{step}\n{told}\n" for step in steps)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = [set(line.split()[1:]) for line in done.splitlines() if line.startswith("loaded ")]
    assert {step: names & NOT_IN_BASE for step, names in zip(steps, loaded, strict=True) if names & NOT_IN_BASE} == {}


def test_the_public_names_are_these():
    assert set(nlgauge.__all__) == PUBLIC == set(dir(nlgauge))
    assert len(nlgauge.__all__) == len(PUBLIC)


@cache
def code_lines() -> dict[Path, set[int]]:
    """Module -> its lines of code: neither blank, nor a comment, nor a docstring."""
    found = {}
    for path, held in nodes().items():
        said: set[int] = set()
        for node in held:
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0] if node.body else None
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    said |= {*range(first.lineno, (first.end_lineno or first.lineno) + 1)}
        lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        found[path] = {i for i, line in lines if line.strip() and not line.lstrip().startswith("#")} - said
    return found


def test_a_module_stays_readable():
    """An alarm: whoever meets it asks whether the module answers one question, and raises it where it does."""
    assert not {name(path): len(lines) for path, lines in code_lines().items() if len(lines) > 380}


def test_no_file_of_the_package_is_ignored_by_git():
    """A rule for what is built or fetched can hit a folder of the source with the same name; no checkout has it."""
    root = TESTS.parent
    if not (root / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no checkout of git")
    command = ["git", "-C", str(root), "ls-files", "--others", "--ignored", "--exclude-standard", "--", "src"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    built = ("__pycache__/", ".egg-info/")
    assert [path for path in listed if not any(part in path for part in built)] == []


def functions() -> Iterator[tuple[str, int]]:
    """`file: name` and the lines of code in the body of every function; what it is given and its docstring are free."""
    for path, held in nodes().items():
        for node in held:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
                yield f"{name(path)}: {node.name}", len(code_lines()[path].intersection(inside))


def test_a_function_is_seen_at_a_glance():
    """An alarm, as that of modules: a function that is one table or one loop over cases may ring it."""
    assert not {function: lines for function, lines in functions() if lines > 55}


def test_options_do_not_travel_as_a_row_of_anything():
    """A row of typed arguments that is spread into a call is what a limit on lines once made of them."""
    faults = []
    for path, held in nodes().items():
        for node in held:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                rows = {
                    a.arg for a in node.args.args if a.annotation and ast.unparse(a.annotation) == "tuple[Any, ...]"
                }
                spread = (n.value for n in ast.walk(node) if isinstance(n, ast.Starred))
                faults += [f"{name(path)}:{n.lineno}" for n in spread if isinstance(n, ast.Name) and n.id in rows]
    assert not faults


def tables(tree: ast.Module) -> set[int]:
    """The lines of what a module assigns at its top: its tables of words and numbers."""
    return {
        line
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def test_lines_are_short():
    """Black and ruff keep code short; here texts and comments are held to it."""
    faults = [
        f"{name(path)}:{i}"
        for path in MODULES
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert not faults


def test_only_tables_are_laid_out_by_hand():
    faults = [
        f"{name(path)}:{i}"
        for path, tree in trees().items()
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.rstrip().endswith(("# fmt: skip", "# fmt: off")) and i not in tables(tree)
    ]
    assert not faults


def test_a_folder_is_seen_at_a_glance():
    folders: dict[str, int] = {}
    for path in MODULES:
        if path.name != "__init__.py":
            folder = name(path.parent)
            folders[folder] = folders.get(folder, 0) + 1
    # 27: a verb is a file of cli, as is what stands in its place (a plan, spans); types of several rooms are in core
    # 21: encoders by language stand apart from layers, since the registry reads the one and must not find models
    assert not {folder: files for folder, files in folders.items() if files > 27}


def test_a_function_lives_where_its_subject_lives():
    assert not {name(path) for path in MODULES if path.stem in ("utils", "util", "helpers", "common", "misc")}


def public_definitions(tree: ast.Module) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    yield tree
    for node in tree.body:
        if [ast.unparse(one) for one in getattr(node, "decorator_list", [])] == ["overload"]:
            continue  # the definition after it says what it is
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (n for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_"))


def test_everything_public_says_what_it_is():
    silent = [
        f"{name(path)}: {getattr(node, 'name', 'the module')}"
        for path, tree in trees().items()
        if tree.body
        for node in public_definitions(tree)
        if not ast.get_docstring(node, clean=False)
    ]
    assert not silent


def dotted(node: ast.AST) -> str:
    """`a.b.c` as it stands, in a hundredth of the time of `ast.unparse`; nothing for what is no dotted name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


@cache
def calls() -> list[tuple[str, str, ast.Call]]:
    """Where, what and how of everything called."""
    return [
        (f"{name(path)}:{node.lineno}", dotted(node.func), node)
        for path, held in nodes().items()
        for node in held
        if isinstance(node, ast.Call)
    ]


def test_no_data_can_run_code():
    unsafe = {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve", "cloudpickle"}
    faults = [
        f"{name(path)}:{line} imports {target}"
        for path, line, target in all_imports()
        if target.partition(".")[0] in unsafe
    ]
    for where, called, node in calls():
        if called in ("eval", "exec", "compile", "torch.load", "torch.hub.load", "yaml.load", "os.system"):
            faults.append(f"{where} calls {called}")
        for keyword in node.keywords:
            if keyword.arg in ("trust_remote_code", "allow_pickle", "shell") and ast.unparse(keyword.value) != "False":
                faults.append(f"{where}: {keyword.arg} is not False")
    assert not faults


def test_the_library_neither_prints_nor_exits():
    loud = ("print", "exit", "quit", "sys.exit", "os._exit", "warnings.warn")
    found = [
        f"{where.partition(':')[0]} calls {called}"
        for where, called, _ in calls()
        if called in loud and not where.startswith(("cli/", "__main__"))
    ]
    # of texts that were not scored as they stand, and of scores that cannot be kept: each once a call
    warns = {"core/counts.py calls warnings.warn", "runtime/cache.py calls warnings.warn"}
    # a program of its own, where a copy that a package forked must not answer, nor leave by what was opened before
    assert {*found} == {*warns, "metrics/external/worker.py calls os._exit"}


def test_every_module_is_held_by_a_test_file_of_its_name():
    modules = [path.relative_to(SOURCE) for path in MODULES if not path.stem.startswith("__")]
    lacking = {m.as_posix() for m in modules if not (TESTS / m.parent / f"test_{m.name}").exists()}
    assert sorted(lacking - HELD_ELSEWHERE.keys() - NOT_HELD_WHOLE) == [], "modules without a test file"
    assert sorted(HELD_ELSEWHERE.keys() - lacking) == [], "no exception any more"


def test_what_is_held_elsewhere_is_held_there():
    assert not [
        f"{module}: {test}"
        for module, tests in HELD_ELSEWHERE.items()
        for test in tests.split()
        if not (TESTS / test).exists()
    ]


def test_doors_are_for_those_outside():
    """Inside, everything is imported from the module that defines it.

    Who uses what stays visible, and no circle forms.
    """
    packages = {path.parent for path in MODULES if path.name == "__init__.py"}
    faults = []
    for path, held in nodes().items():
        for node in held:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "nlgauge":
                home = SOURCE.joinpath(*node.module.split(".")[1:])
                inner = [
                    (home / alias.name).with_suffix(".py").exists() or home / alias.name in packages
                    for alias in node.names
                ]
                if home in packages and not all(inner):
                    homed = [(alias.name, homes(node.module).get(alias.name)) for alias in node.names]
                    mend = ", ".join(f"{one} from {module}" for one, module in homed)
                    faults.append(f"{name(path)}:{node.lineno} imports from the door of {node.module}; import {mend}")
    assert not faults


def test_what_a_user_reads_names_no_inner_module():
    """Errors, notes and help name what the doors offer: `nlgauge.score`, `nlgauge.io.read_scores`."""
    faults = []
    for path, held in nodes().items():
        silent = {id(node) for outer in held for node in _no_prose(outer)}
        faults += [
            f"{name(path)}:{node.lineno} says {word}"
            for node in held
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
            if re.search(r"\s", node.value) and not re.search(r"\bimport ", node.value)  # no code for another process
            for word in re.findall(r"\bnlgauge\.[a-z_]+\.[a-zA-Z_.]*\w", node.value)
            if word.count(".") > 2 or word.split(".")[2] not in import_module(word.rpartition(".")[0]).__all__
        ]
    assert not faults


def _no_prose(node: ast.AST) -> Iterator[ast.AST]:
    """The docstring of a node: for readers of the code, who may be told of its modules."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    if isinstance(node, kinds) and node.body and ast.get_docstring(node, clean=False):
        yield node.body[0].value  # type: ignore[attr-defined]


def test_no_pattern_repeats_a_group_possessively():
    """CPython before 3.11.5 matches `(...)*+` too far (its issue 106052); `(?>(...)*)` says the same everywhere."""
    repeated = re.compile(r"(?<!\\)\)(?:[*+?]|\{\{?[0-9,]+\}\}?)\+")
    found = [
        f"{path}: {line}"
        for path in MODULES
        for line in path.read_text(encoding="utf-8").splitlines()
        if repeated.search(line.split("  #")[0]) and "`(...)*+`" not in line
    ]
    assert not found, found
