"""The pages: links lead somewhere, options exist, every metric and verb is listed, and examples of one's own work."""

from __future__ import annotations

import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path

import pytest

import nlgauge
from nlgauge.cli.main import TRAIN, VERBS, app, main
from nlgauge.core.result import KINDS
from nlgauge.core.spec import split
from nlgauge.metrics.registry import METRICS, SUMS, embedded_metrics, metric
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.stats.correlate import STATISTICS

ROOT = Path(__file__).parent.parent
SOURCE = Path(nlgauge.__file__).parent
PAGES = sorted(
    path for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")] if path.exists()
)
TYPED = [*VERBS, *(f"train {name}" for name in TRAIN)]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the pages are not beside the tests")


@pytest.fixture(scope="module")
def helps():
    """Verb -> its options, from its help."""
    found = {}
    for verb in TYPED:
        with redirect_stdout(io.StringIO()) as shown:
            assert main([*verb.split(), "--help"]) == 0
        found[verb] = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", shown.getvalue()))
    return found


def test_links_between_pages_lead_somewhere():
    lost = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                lost.append(f"{page.relative_to(ROOT)}: {target}")
    assert not lost


def test_every_page_is_in_the_navigation_of_the_site_once():
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:\n")[2].splitlines()
    named = [line.strip().removeprefix("- ") for line in lines if line.endswith(".md")]
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in PAGES if path.is_relative_to(ROOT / "docs")]
    assert sorted(named) == sorted(pages), "add a new page to mkdocs.yml, in the section where docs/index.md has it"


def test_options_on_the_page_of_the_command_exist(helps):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")))
    assert named - set().union(*helps.values()) - {"--version", "--install-completion", "--show-completion"} == set()


def test_options_of_score_are_on_the_page_of_the_command(helps):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert {option for option in helps["score"] if not re.search(rf"(?<![\w-]){option}(?![\w-])", page)} <= {"--help"}


def test_verbs_are_on_the_page_of_the_command():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    names = [command.name for command in app.registered_commands] + [group.name for group in app.registered_groups]
    assert [name for name in names if f"nlgauge {name}" not in page] == []


def test_kinds_of_results_are_on_the_page_of_formats_with_their_fields():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    named = re.search(r"^\| `schema`, `kind`, `version` \| 1; (.*?);", page, flags=re.M)
    assert named
    assert re.findall(r"`(\w+)`", named[1]) == [*KINDS]
    table = page.partition("| kind | fields |")[2].partition("\n\n")[0]
    assert [name for name in KINDS if not re.search(rf"^\| .*`{name}`", table, flags=re.M)] == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A function that runs Python where `pip install` left what the page shows.

    That is three modules, and a folder of metadata with the entry points.
    """
    folder = tmp_path_factory.mktemp("site")
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    parts = re.split(r"^# A (?:perturbation|format) of your own$", page, flags=re.M)
    modules = (("token_f1", "scores ="), ("drop_degree", "changed ="), ("blocks", "import tempfile"))
    (folder / "mypackage").mkdir()
    for part, (name, stop) in zip(parts, modules, strict=True):
        lines = ["from dataclasses import dataclass\nfrom typing import ClassVar\n"]
        for example in doctest.DocTestParser().get_examples(part):
            if example.source.startswith(stop):
                break
            lines.append(example.source)
        (folder / "mypackage" / f"{name}.py").write_text("".join(lines), encoding="utf-8")
    metadata = folder / "mypackage-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 0.1\n")
    entries = re.findall(r'^\[project\.entry-points\."(.+)"\]\n(.+) = "(.+)"$', page, flags=re.M)
    assert len(entries) == 3
    (metadata / "entry_points.txt").write_text("".join("[{}]\n{} = {}\n".format(*entry) for entry in entries))

    def run(*command):
        paths = [str(folder), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        return subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=True, env=environment, cwd=folder
        ).stdout

    return run


def test_the_metric_of_the_page_works_when_its_package_is_installed(installed, tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"hyp": "The cat sat", "ref": "the dog sat"}\n{"hyp": "a", "ref": "a b"}\n')
    # (2/3 + 2/3) / 2 with case folded, (1/3 + 2/3) / 2 as they are
    specs = ["-m", "token-f1", "-m", "token-f1:lowercase=false", "-m", "1*token-f1 + 1*chrf[norm=none]"]
    commands = [["score", str(data), *specs, "--score-only"], ["list", "metrics"]]
    out = installed(
        "-c",
        f"from nlgauge.cli.main import main; print(*map(main, {commands}))\n"
        "import nlgauge.testing; nlgauge.testing.check_metric(nlgauge.metric('token-f1'))",  # registered, as told
    )
    assert out.split()[:2] == ["0.6667", "0.5000"]
    assert re.search(r"^token-f1 +F1 of words", out, flags=re.M)
    assert out.endswith("0 0\n")


def test_the_perturbation_of_the_page_works_when_its_package_is_installed(installed):
    code = "import nlgauge; print(nlgauge.perturb('drop_degree:which=all', ['very very cold'])[0].text)\n"
    held = "from nlgauge.testing import check_perturbation; from nlgauge.perturbations.perturb import perturbation"
    assert (
        installed("-c", f"{code}{held}; check_perturbation(perturbation('drop_degree'), processes=False)") == "cold\n"
    )


def test_the_format_of_the_page_works_when_its_package_is_installed(installed, tmp_path):
    data = tmp_path / "data.blocks"
    data.write_text("the cat sat\nthe cat sat\n\na dog\na dog\n")
    commands = [["score", str(data), "-m", "chrf", "--score-only"], ["list", "formats"]]
    out = installed("-c", f"from nlgauge.cli.main import main; print(*map(main, {commands}))")
    assert out.startswith("100.00\n")
    assert re.search(r"^blocks +Blocks of a reference and a hypothesis", out, flags=re.M)
    assert out.endswith("0 0\n")


METRIC_PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "metrics").glob("*.md")}
README = (ROOT / "README.md").read_text(encoding="utf-8")
ALL_METRICS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


def rows(text):
    """The first cells of all table rows of a page."""
    return [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]


def in_code(text):
    """What stands between single backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))


def headings(text):
    """The names in the first heading of a page: "# chrf, chrf++"."""
    return set(re.split(r",\s+", text.partition("\n")[0].removeprefix("# ")))


def test_a_metric_has_a_page_and_a_row_in_the_table_of_all():
    paged = set().union(*(headings(text) | {stem} for stem, text in METRIC_PAGES.items()))
    linked = Counter(name for cell in rows(ALL_METRICS) if "](metrics/" in cell for name in {*in_code(cell)})
    names = [name for name in (*METRICS.names(), *SUMS) if not name.startswith("paper/")]
    assert [name for name in names if name not in paged] == []
    assert [(name, linked[name]) for name in names if linked[name] != 1] == []


def test_every_embedded_metric_has_a_row_in_the_audit_on_its_page():
    shown = {}
    for stem, text in METRIC_PAGES.items():
        for block in re.findall(r"<!-- audit: .*?-->\n(.*?)<!-- end of audit -->", text, re.S):
            named = [cell.strip(" `") for cell in rows(block) if "`" in cell]
            assert {*named} <= headings(text) | {stem}
            shown |= dict.fromkeys(named, stem)
    assert "It has no audit here" in METRIC_PAGES["parent"]
    audited = {*embedded_metrics()} - {"parent"}
    assert shown.keys() <= audited
    if lacking := sorted(audited - shown.keys()):
        told = f"no audit of {', '.join(lacking)}: run recipes/tools/metrics/audits.py"
        assert not os.environ.get("NLGAUGE_DATA"), told
        pytest.skip(f"{told} with its sentences, which are not here")


def test_presets_of_papers_are_on_a_page_and_in_the_table_of_all():
    presets = [name for name in (*METRICS.names(), *SUMS) if name.startswith("paper/")]
    pages = "".join(METRIC_PAGES.values())
    assert presets
    assert [name for name in presets if f"`{name}`" not in pages] == []
    assert "paper/..." in set().union(*map(in_code, rows(ALL_METRICS)))


PRINTED = {  # of each paper: how many tables and figures its text has
    "BERTScore": {"table": 29, "figure": 3},
    "MENLI": {"preprint, table": 19, "preprint, figure": 13, "TACL, table": 10, "TACL, figure": 4},
    "SEScore": {"table": 8, "figure": 4},
    "Perturbation": {"table": 5, "figure": 7},
}


@pytest.mark.parametrize("paper", PRINTED)
def test_every_table_and_figure_of_the_papers_has_one_row(paper):
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {paper}.*?(?=^## |\Z)", page, re.S | re.M)
    rows_of = [line.split("|")[1].strip().rpartition(" ") for line in section.splitlines() if line.startswith("| ")]
    found = {kind: [number for of, _, number in rows_of if of == kind] for kind in PRINTED[paper]}
    assert found == {kind: [str(n) for n in range(1, most + 1)] for kind, most in PRINTED[paper].items()}


def test_every_statistic_has_a_row_on_the_page_of_coefficients():
    page = (ROOT / "docs" / "statistics" / "coefficients.md").read_text(encoding="utf-8")
    table = page.partition("\n## Which statistics there are\n")[2].partition("\n## ")[0]
    assert STATISTICS.keys() - {code for cell in rows(table) for code in in_code(cell)} == set()


def test_every_perturbation_is_shown_once_on_a_page_of_examples():
    pages = (ROOT / "docs" / "perturbations").glob("*.md")
    shown = Counter(name for page in pages for name in re.findall(r"^## (\w+)$", page.read_text("utf-8"), re.M))
    assert [name for name in PERTURBATIONS.names() if shown[name] != 1] == []


def test_weighted_sums_have_a_page_and_a_row_in_the_table_of_all():
    (cell,) = [cell for cell in rows(ALL_METRICS) if "](metrics/sums.md)" in cell]
    assert any("*" in code and "+" in code for code in in_code(cell))


def test_every_verb_is_in_the_table_of_the_readme():
    names = [command.name for command in app.registered_commands] + [group.name for group in app.registered_groups]
    told = {code for cell in rows(README) for code in in_code(cell)}
    assert [name for name in names if f"nlgauge {name}" not in told] == []


def test_files_of_the_repository_that_pages_name_exist():
    """Those that a page tells the reader to write are left out."""
    file = re.compile(r"(?<![\w/.-])((?:recipes|benchmarks|tests|docs|src|examples)/[\w./-]+\.\w+)")
    pages = [*PAGES, ROOT / "CHANGELOG.md", *(ROOT / "recipes").rglob("README.md")]
    named = {(page.name, name) for page in pages for name in file.findall(page.read_text(encoding="utf-8"))}
    named = {(page, name) for page, name in named if not re.search("token_f1|NAME", name)}
    assert [(page, name) for page, name in sorted(named) if not (ROOT / name).exists()] == []


def test_continuous_integration_runs_what_the_readme_names_second():
    shown = re.findall(r"^(make \w+)", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M)
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == shown[1]


def test_every_page_is_reached_from_the_index_with_a_sentence():
    index = ROOT / "docs" / "index.md"
    text = re.sub(r"^\|.*\n", "", index.read_text(encoding="utf-8"), flags=re.M)  # without the table of first commands
    links = re.findall(r"\]\(([^)#]+)(#[^)]*)?\)", text)
    targets = [(index.parent / target).resolve() for target, _ in links]
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md")} - {index.resolve()}
    pages -= {path.resolve() for path in (ROOT / "docs" / "metrics").glob("*.md")}  # in the table of all metrics
    assert pages - set(targets) == set()
    assert len(targets) == len(set(targets)), "a page is linked twice"
    items = [item for item in re.split(r"\n(?=- )", text) if item.startswith("- ")]
    bare = [item for item in items if ":" not in re.sub(r"\(.*?\)", "", item)]
    assert bare == []


def test_links_to_headings_lead_to_one():
    lost = []
    for page in PAGES:
        for target, place in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            other = (page.parent / target) if target else page
            titles = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), flags=re.M)
            anchors = {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
            if place not in anchors:
                lost.append(f"{page.relative_to(ROOT)}: {target}#{place}")
    assert not lost


def test_pages_name_only_what_the_doors_offer():
    """`nlgauge.X` and `nlgauge.stats.X`, never the module in which a thing happens to live."""
    faults = []
    for page in [*PAGES, *(ROOT / "examples").rglob("*.md"), *(ROOT / "recipes").rglob("README.md")]:
        text = page.read_text(encoding="utf-8")
        for module, names in re.findall(r"from (nlgauge[\w.]*) import ([\w, ]+)", text):
            lacking = set(re.split(r",\s*", names.strip())) - set(import_module(module).__all__)
            faults += [f"{page.relative_to(ROOT)}: from {module} import {name}" for name in sorted(lacking)]
        for word in re.findall(r"(?<![\w./-])nlgauge(?:\.[a-zA-Z_]\w*)+", text):
            parts = word.split(".")
            if len(parts) > 3 or (len(parts) == 3 and not (word in GROUPS or offered(parts))):
                faults.append(f"{page.relative_to(ROOT)}: {word}")
    assert not faults


# Groups of entry points and words of JSON that look like names of Python.
GROUPS = ("nlgauge.formats", "nlgauge.metrics", "nlgauge.perturbations", "nlgauge.statistics")


def offered(parts):
    """Whether the door of a package offers a name."""
    package = ".".join(parts[:2])
    return parts[2] in getattr(import_module(package), "__all__", ())


def test_prose_keeps_to_120_characters():
    long = []
    for page in [*PAGES, ROOT / "CHANGELOG.md", ROOT / "examples" / "README.md"]:
        fence = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            fence ^= line.startswith("```")
            if not fence and not line.startswith(("|", "```")) and len(line) > 120:
                long.append(f"{page.relative_to(ROOT)}:{number}")
    assert not long


def test_metrics_in_commands_of_the_pages_can_be_made():
    """Placeholders, metrics of other packages and files of the reader's own are left out."""
    shown = re.compile(r"^(?:\$ )?(nlgauge .+)$|`(nlgauge [^`]+)`", re.M)
    other = r"SPEC|token-f1|my_metric:|file=|file\(|\.(safetensors|ckpt|json)\b|module=|^(blue|adem|embedded)$|^human\."
    made = set()
    for page in PAGES:
        for command in shown.findall(page.read_text(encoding="utf-8")):
            words = shlex.split("".join(command).replace("\\", ""), comments=True)
            made |= {after for word, after in pairwise(words) if word in ("-m", "--metric", "--with")}
    specs = sorted(spec for listed in made for spec in split(listed) if not re.search(other, spec))
    assert len(specs) > 20
    for spec in specs:
        metric(spec)


def test_a_term_is_in_the_glossary_once():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = [term for cell in rows(text) for term in cell.strip().split(", ") if term not in ("word", "---")]
    assert len(terms) > 50
    assert len(terms) == len(set(terms))


# Words of others for which the glossary has one of ours, unless they are a name in code.
ELSEWHERE = (
    r"\b(candidates?|annotators?|gold|challenge sets?|test suites?|corpus scores?|held against|seen by|turned round)\b"
)


def test_pages_say_the_words_of_the_glossary():
    found = []
    for page in PAGES:
        if page.stem not in ("glossary", "migrating"):
            text = re.sub(r"^```.*?^```$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
            found += [f"{page.relative_to(ROOT)}: {match[0]}" for match in re.finditer(ELSEWHERE, text)]
    assert not found


def test_the_test_of_every_promise_exists():
    """Pages that promise something name the tests that hold it, as pytest does."""
    for name in ("security.md", "stability.md"):
        promises = (
            (ROOT / "docs" / name).read_text(encoding="utf-8").partition("\n## Promises\n")[2].partition("\n## ")[0]
        )
        held = [line.split(" | ")[-1] for line in promises.splitlines() if line.startswith("| ")][1:]
        assert len(held) > 10
        for cell in held:
            file, test = re.fullmatch(r"`(tests/[\w/]+\.py)::(test_\w+)` \|", cell).groups()
            assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), flags=re.M), cell


def test_fields_of_result_files_are_on_the_page_of_formats(tmp_path, monkeypatch):
    data, ratings = ROOT / "examples/weather.jsonl", ROOT / "examples/weather_ratings.tsv"
    monkeypatch.chdir(tmp_path)
    people = [data, "--judgements", ratings, "-m", "chrf", "-c", "adequacy"]
    tests = ["--significance", "bootstrap", "-n", "20"]
    pair = {"ref": "it rains", "better": "rain falls", "worse": "it rained", "phenomenon": "typos"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps({**pair, "task": "mt", "criterion": "fluency"}))
    results = [
        ["score", data, "-m", "bleu", *tests, "--adjust", "holm", "--by-group"],
        ["score", data, "-m", "bleu", *tests, "--pairs"],
        ["audit", "--suite", "pairs.jsonl", "-m", "chrf"],
        ["audit", "--suite", "pairs.jsonl", "-m", "chrf", "--design", "checklist"],
        ["meta", *people, "-m", "bleu", "--level", "item", "--stat", "kendall_b", "--test", "auto", "--draws", "20"],
        ["select", *people, "--hybrids", "20", "--pool", "3"],
    ]
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8").partition("## Result files")[2]
    named = set(re.findall(r"`([a-z_0-9.]+)`", page)) | {"parts.precision2", "parts.precision3"}
    of_meta = set(re.findall(r"`([a-z_]+)`", (ROOT / "docs/meta.md").read_text(encoding="utf-8")))
    of_meta |= set(re.findall(r"`([a-z_]+)`", (ROOT / "docs/select.md").read_text(encoding="utf-8")))
    for arguments in results:
        assert main([*map(str, arguments), "--json", "result.json", "-q"]) == 0
        result = json.loads((tmp_path / "result.json").read_text())
        rows = {field for row in result["rows"] for field in row}
        known = named | of_meta if result["kind"] in ("meta", "select") else named
        assert sorted({*result, *(field for metric in result["metrics"] for field in metric), *rows} - known) == []


DOORS = (
    "nlgauge",
    *sorted(
        f"nlgauge.{path.parent.name}"
        for path in SOURCE.glob("*/__init__.py")
        if "door(" in path.read_text(encoding="utf-8")
    ),
)


@pytest.fixture(scope="module")
def site():
    """The module that makes the pages of the site."""
    spec = spec_from_file_location("site_pages", ROOT / "recipes" / "tools" / "site_pages.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# A second for all of the source, and `make site` reads it anyhow: one package by day.
@pytest.mark.parametrize("package", ["nlgauge.stats", *(pytest.param(door, marks=pytest.mark.slow) for door in DOORS)])
def test_the_reference_of_the_site_has_every_public_name_with_its_docstring(site, package):
    page = site.reference(package)
    found = re.findall(r"^## `(\w+)`\n\n```python\n(.*?)\n```\n(?=\n?(.*))", page, flags=re.M | re.S)
    assert sorted(name for name, _, _ in found) == sorted(import_module(package).__all__)
    assert [name for name, shown, _ in found if name not in shown] == []
    called = [(name, text) for name, shown, text in found if shown.startswith((f"{name}(", "class "))]
    assert called
    assert [name for name, text in called if text.startswith(("#", "```"))] == []


def test_the_reference_of_the_site_has_every_package(site):
    assert site.packages() == list(DOORS)


def test_a_docstring_becomes_lists_and_plain_text(site):
    docstring = (
        "Less than `<b>`: a < b*c.\n\nArgs:\n    x, z: numbers,\n        shape (n,).\n\nReturns:\n    In [0, 1]."
    )
    parts = [
        r"Less than `<b>`: a &lt; b\*c.",
        "**Args**",
        "- `x, z`: numbers, shape (n,).",
        "**Returns**",
        "In [0, 1].",
    ]
    assert [part.strip() for part in site.prose(docstring)] == parts
    assert site.signature("f", "x: dict[str, int], " + "z: int=0, " * 9).splitlines()[:2] == [
        "f(",
        "    x: dict[str, int],",
    ]


def test_links_of_the_site_stay_in_the_site(site):
    links = "[one](../README.md#x), [two](cli.md), [three](https://a.b), [four](#c)"
    shown = site.within(ROOT / "docs" / "a.md", links)
    assert shown == "one (`README.md`), [two](cli.md), [three](https://a.b), [four](#c)"


def test_the_site_begins_with_the_readme_and_the_table_of_first_commands(site):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = site.home(readme, (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert shown.startswith("# nlgauge\n")
    assert "](images/report_verdict.png)" in shown
    assert shown.index("make demo") < shown.index("## Start here") < shown.index("| want to score outputs |")
    places = [target for target in re.findall(r"\]\(([^)\s#]+)", shown) if "://" not in target]
    assert [place for place in places if not (ROOT / "docs" / place).exists() and place != "pages.md"] == []
