"""The house: what is public, what is heavy, what data may do, and which limits ring.

Who may import whom stands in `pyproject.toml`, as contracts of import-linter, which `make lint` checks.
"""

from __future__ import annotations

import ast
import gc
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import nlgauge
from nlgauge.core.doors import homes

SOURCE = Path(nlgauge.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

NOT_IN_BASE = {"torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "ot", "peft", "pyarrow"}
NOT_IN_BASE |= {"pandas", "polars", "datasets", "mlflow", "inspect_ai", "matplotlib", "evaluate", "torchmetrics"}
NOT_IN_BASE |= {"bert_score", "rouge_score"}

PUBLIC = {
    *("Accumulator", "Alignment", "Dataset", "InputError", "Metric", "MetricInfo", "MissingExtra", "NlgaugeError"),
    *("Pair", "Perturbed", "Runtime", "ScoreWarning", "Scores", "Segment", "Signature", "SpecError", "Suite"),
    *("__version__", "align", "audit", "choose", "compare", "correlation", "explain", "fetch", "gate"),
    "list_metrics",
    *("meta_evaluate", "metric", "perturb", "read", "read_suite", "score", "select_models", "suite"),
    *("sweep", "synthesize"),
}


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


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


def imported(node: ast.AST) -> list[str]:
    """The modules that a statement names: of `from a import b` it is a."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["." * node.level + (node.module or "")] if isinstance(node, ast.ImportFrom) else []


def test_imports_are_by_full_names():
    found = [(name(path), one) for path, held in nodes().items() for node in held for one in imported(node)]
    assert not [(where, one) for where, one in found if one.startswith(".")]


def test_what_is_no_part_of_the_base_is_imported_only_when_used():
    """At the top of a module it would be loaded with it; models are themselves loaded late."""
    assert not [
        f"{name(path)}:{node.lineno} imports {one} at its top"
        for path, tree in trees().items()
        if name(path).partition("/")[0] not in ("models", "training")
        for node in tree.body
        for one in imported(node)
        if one.partition(".")[0] in NOT_IN_BASE
    ]


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


def test_doors_are_for_those_outside():
    """Inside, everything is imported from the module that defines it: who uses what stays visible."""
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
        f"{name(path)} imports {one}"
        for path, held in nodes().items()
        for node in held
        for one in imported(node)
        if one.partition(".")[0] in unsafe
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
    warns = {"core/scores.py calls warnings.warn", "runtime/cache.py calls warnings.warn"}
    assert {*found} == warns


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


def test_every_module_is_held_by_a_test_file_of_its_name():
    modules = [path.relative_to(SOURCE) for path in MODULES if not path.stem.startswith("__")]
    assert not {m.as_posix() for m in modules if not (TESTS / m.parent / f"test_{m.name}").exists()}


def test_every_table_of_cases_has_its_test():
    """Cases without a test would be read by nobody; a test without cases fails by itself."""
    assert not [
        f"{table.name}: {name}"
        for table in TESTS.rglob("test_*.tsv")
        for name in re.findall(r"^## (\w+)$", table.read_text(encoding="utf-8"), flags=re.M)
        if f"def {name}(cases" not in table.with_suffix(".py").read_text(encoding="utf-8")
    ]


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
    assert not [
        f"{name(path)}: {getattr(node, 'name', 'the module')}"
        for path, tree in trees().items()
        if tree.body
        for node in public_definitions(tree)
        if not ast.get_docstring(node, clean=False)
    ]


def test_a_module_is_one_subject():
    """An alarm: whoever meets it asks whether the module has two subjects, and says why where it has one."""
    lines = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {module: n for module, n in lines.items() if n > 1000}
    assert not [module for module in lines if Path(module).stem in ("utils", "util", "helpers", "common", "misc")]


def test_a_function_is_seen_at_a_glance():
    """An alarm, as that of modules: a function that is one table or one loop over cases may ring it."""
    found = {
        f"{name(path)}: {node.name}": (node.end_lineno or 0) - node.body[0].lineno + 1
        for path, held in nodes().items()
        for node in held
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not {function: lines for function, lines in found.items() if lines > 90}


def test_no_file_of_the_package_is_ignored_by_git():
    """A rule for what is built or fetched can hit a folder of the source with the same name; no checkout has it."""
    root = TESTS.parent
    if not (root / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no checkout of git")
    command = ["git", "-C", str(root), "ls-files", "--others", "--ignored", "--exclude-standard", "--", "src"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    built = ("__pycache__/", ".egg-info/")
    assert [path for path in listed if not any(part in path for part in built)] == []
