"""The pages: links lead somewhere, options exist, every metric and verb is listed, and examples of one's own work."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import redirect_stdout
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

import nlgauge
from nlgauge.cli.main import INNER, TRAIN, VERBS, main
from nlgauge.core.spec import split
from nlgauge.metrics.registry import METRICS, SUMS, embedded_metrics, metric
from nlgauge.perturbations.perturb import PERTURBATIONS

ROOT = Path(__file__).parent.parent
SOURCE = Path(nlgauge.__file__).parent
PAGES = sorted(
    path for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")] if path.exists()
)
HAND = [path for path in PAGES if not path.is_relative_to(ROOT / "docs" / "reference")]  # the others are made
TYPED = [*VERBS, *INNER, *(f"train {name}" for name in TRAIN)]

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


def test_every_page_is_in_the_navigation_of_the_site_once(site):
    lines = site.nav((ROOT / "mkdocs.yml").read_text(encoding="utf-8")).partition("nav:\n")[2].splitlines()
    named = [line.rpartition(" ")[2] for line in lines if line.endswith(".md")]
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in PAGES if path.is_relative_to(ROOT / "docs")]
    assert sorted(named) == sorted(pages), "add a new page to mkdocs.yml, in the section where docs/index.md has it"


def test_options_in_commands_of_the_pages_exist(helps):
    # of a page, and as the Makefile runs them
    shown = re.compile(r"^(?:\$ |\t.*bin/)?(nlgauge .+(?:\\\n.*)*)$|`(nlgauge [^`]+)`", re.M)
    verbs = sorted(helps, key=len, reverse=True)
    unknown = []
    for page in [*HAND, ROOT / "Makefile"]:
        for command in map("".join, shown.findall(page.read_text(encoding="utf-8"))):
            verb = next((verb for verb in verbs if command.startswith(f"nlgauge {verb}")), None)
            typed = re.findall(r"(?<![\w\"'\]-])--?[a-z][a-z-]*", command.partition(" #")[0].partition(" | ")[0])
            known = helps[verb] if verb else {"--version", "--help", "--install-completion", "--show-completion"}
            unknown += [f"{page.name}: {command}: {option}" for option in typed if option not in known]
    assert not unknown


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A function that runs Python where `pip install examples/plugin` left its package.

    That is its modules, and a folder of metadata with the entry points.
    """
    folder = tmp_path_factory.mktemp("site")
    source = ROOT / "examples" / "plugin"
    shutil.copytree(source / "mypackage", folder / "mypackage", ignore=shutil.ignore_patterns("__pycache__"))
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = folder / f"{project['name']}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"]
    assert [len(entries) for entries in groups.values()] == [1, 1, 1]
    lines = []
    for group, named in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in named.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")

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


def rows(text):
    """The first cells of all table rows of a page."""
    return [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]


def in_code(text):
    """What stands between single backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))


def test_a_metric_stands_on_the_page_of_its_family_and_in_the_table_of_all():
    pages = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs/reference/metrics").glob("*.md")}
    entries = Counter(name for text in pages.values() for name in re.findall(r"^## (.+)$", text, flags=re.M))
    table = in_code("".join(rows((ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8"))))
    named = in_code("".join(pages.values())) | entries.keys()
    for name in (*METRICS.names(), *SUMS):
        base = name in SUMS or METRICS.lookup(name)[1] or entries[name] == 1
        assert base, f"{name} has no entry"
        assert name in named, f"{name} is on no page"
        assert name in table or name.startswith("paper/"), f"{name} is not in the table of all"


def test_every_embedded_metric_has_a_row_of_audits(reference):
    audited = {*embedded_metrics()} - {"parent"}  # which reads tables
    shown = {row["metric"] for row in reference.rows_of("metrics/audits.tsv")}
    assert shown <= audited
    if lacking := sorted(audited - shown):
        told = f"no audit of {', '.join(lacking)}: run recipes/tools/metrics/audits.py"
        assert not os.environ.get("NLGAUGE_DATA"), told
        pytest.skip(f"{told} with its sentences, which are not here")


PRINTED = {  # of each paper: how many tables and figures its text has
    "BERTScore": {"table": 29, "figure": 3},
    "MENLI": {"preprint, table": 19, "preprint, figure": 13, "TACL, table": 10, "TACL, figure": 4},
    "SEScore": {"table": 8, "figure": 4},
    "Perturbation": {"table": 5, "figure": 7},
}


@pytest.mark.parametrize("paper", PRINTED)
def test_every_table_and_figure_of_the_papers_has_one_row(paper):
    lines = (ROOT / "docs" / "studies" / "papers.tsv").read_text(encoding="utf-8").splitlines()
    own = [line.split("\t") for line in lines if line.startswith(paper)]
    assert [row for row in own if len(row) != len(lines[0].split("\t"))] == []
    assert [row for row in own if row[-1] and not (ROOT / "docs" / row[-1]).exists()] == []
    rows_of = [row[1].rpartition(" ") for row in own]
    found = {kind: [number for of, _, number in rows_of if of == kind] for kind in PRINTED[paper]}
    assert found == {kind: [str(n) for n in range(1, most + 1)] for kind, most in PRINTED[paper].items()}


def test_every_perturbation_is_shown_once_on_a_page_of_examples():
    pages = (ROOT / "docs" / "reference" / "perturbations").glob("*.md")
    shown = Counter(name for page in pages for name in re.findall(r"^## (\w+)$", page.read_text("utf-8"), re.M))
    assert [name for name in PERTURBATIONS.names() if shown[name] != 1] == []


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


def test_every_page_is_reached_from_the_index():
    index = ROOT / "docs" / "index.md"
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", index.read_text(encoding="utf-8"))
    targets = Counter((index.parent / target).resolve() for target in links)
    pages = {path.resolve() for path in HAND} - {index.resolve(), ROOT / "CONTRIBUTING.md"}
    assert pages | {path.resolve() for path in (ROOT / "docs" / "reference").glob("*.md")} == targets.keys()
    assert [target for target, n in targets.items() if n > 1] == [], "a page is linked twice"


def test_pages_are_short():
    """Of what is written by hand; the reference is made. A limit is an alarm: say why it is raised."""
    words = {page.relative_to(ROOT).as_posix(): len(page.read_text(encoding="utf-8").split()) for page in HAND}
    assert sum(words.values()) < 75_000
    assert {name: n for name, n in words.items() if n > 1500} == {}


def test_no_paragraph_stands_on_two_pages():
    """Nor twice on one: each fact has one home. Tables and code are left out, which may show the same command."""
    where = {}
    for page in [*HAND, *(ROOT / "docs" / "reference").rglob("*.md")]:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for part in re.split(r"\n\s*\n", text):
            plain = " ".join(part.split())
            is_made = "reference/python" in page.as_posix()  # docstrings, of which other pages show some, too
            if len(plain.split()) > 25 and not plain.startswith("|") and not is_made:
                where.setdefault(plain, []).append(page.relative_to(ROOT).as_posix())
    made = "docs/reference/"
    assert {part: on for part, on in where.items() if len(on) > 1 and not all(p.startswith(made) for p in on)} == {}


def test_the_story_is_told_alike():
    """One sentence and four lines: in the README, in the index and in the help."""
    table = re.compile(r"^\*\*nlgauge\*\* scores text.*?\n\n(?=[^|])", flags=re.M | re.S)
    readme, index = (table.search((ROOT / page).read_text(encoding="utf-8")) for page in ("README.md", "docs/index.md"))
    assert readme is not None
    assert index is not None
    assert readme[0] == index[0]
    told = [re.sub(r"[*`]", "", line).strip("| ").replace(" | ", ": ") for line in readme[0].split("\n")]
    sentence, lines = " ".join(told[:2]), told[5:9]
    with redirect_stdout(io.StringIO()) as printed:
        assert main(["--help"]) == 0
    shown = " ".join(printed.getvalue().split())
    assert sentence in shown
    assert all(line in shown for line in lines)


def test_links_to_headings_lead_to_one():
    lost = []
    for page in PAGES:
        for target, place in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            other = (page.parent / target) if target else page
            titles = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), flags=re.M)
            if place not in map(anchor, titles):
                lost.append(f"{page.relative_to(ROOT)}: {target}#{place}")
    assert not lost


def test_pages_name_only_what_the_doors_offer():
    """`nlgauge.X` and `nlgauge.stats.X`, never the module in which a thing happens to live."""
    faults = []
    for page in [*HAND, *(ROOT / "examples").rglob("*.md"), *(ROOT / "recipes").rglob("README.md")]:
        text = page.read_text(encoding="utf-8")
        for module, names in re.findall(r"from (nlgauge[\w.]*) import ([\w, ]+)", text):
            lacking = set(re.split(r",\s*", names.strip())) - set(import_module(module).__all__)
            faults += [f"{page.relative_to(ROOT)}: from {module} import {name}" for name in sorted(lacking)]
        for word in re.findall(r"(?<![\w./-])nlgauge(?:\.[a-zA-Z_]\w*)+", text):
            parts = word.split(".")
            if len(parts) > 3 or (len(parts) == 3 and not (word in GROUPS or offered(parts))):
                faults.append(f"{page.relative_to(ROOT)}: {word}")
    assert not faults


def test_every_public_name_is_named_by_a_page(reference):
    """Or stands in the signature of one that is, as what it returns. Another name is one that nobody looks for."""
    code = []
    for page in [*HAND, *(ROOT / "examples").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]:
        text = page.read_text(encoding="utf-8")
        code += [text] if page.suffix == ".py" else re.findall(r"^```.*?^```$|`[^`]+`", text, flags=re.M | re.S)
    public = {name: home for package in DOORS for name, home in reference.homes(package).items()}
    found, more = set(), public.keys() & set(re.findall(r"\w+", " ".join(code)))
    while more:
        found |= more
        shown = "\n".join(part for name in more for part in reference.entry_of(public[name], name))
        heads = " ".join(re.findall(r"^```.*?^```$|^- `[^`]+`", shown, flags=re.M | re.S))
        more = (public.keys() & set(re.findall(r"\w+", heads))) - found
    assert public.keys() - found == set()
    assert len(public) <= 180  # an alarm: see what the new ones are for, and raise it with the reason


# Groups of entry points and words of JSON that look like names of Python.
GROUPS = ("nlgauge.formats", "nlgauge.metrics", "nlgauge.perturbations", "nlgauge.statistics")


def offered(parts):
    """Whether the door of a package offers a name."""
    package = ".".join(parts[:2])
    return parts[2] in getattr(import_module(package), "__all__", ())


def test_prose_keeps_to_120_characters():
    long = []
    for page in [*HAND, ROOT / "CHANGELOG.md", ROOT / "examples" / "README.md"]:
        fence = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            fence ^= line.startswith("```")
            if not fence and not line.startswith(("|", "```")) and len(line) > 120:
                long.append(f"{page.relative_to(ROOT)}:{number}")
    assert not long


def test_metrics_in_commands_of_the_pages_can_be_made():
    """Placeholders, metrics of other packages and files of the reader's own are left out."""
    shown = re.compile(r"^(?:\$ )?(nlgauge .+)$|`(nlgauge [^`]+)`", re.M)
    other = r"SPEC|token-f1|my_metric:|file=|file\(|\.(safetensors|ckpt|json)\b|module=|^human\."
    other += "|^(blue|adem|embedded|pooling)$"
    made = set()
    for page in PAGES:
        for command in shown.findall(page.read_text(encoding="utf-8")):
            words = shlex.split("".join(command).replace("\\", ""), comments=True)
            made |= {after for word, after in pairwise(words) if word in ("-m", "--metric", "--with")}
    specs = sorted(spec for listed in made for spec in split(listed) if not re.search(other, spec))
    assert len(specs) > 20
    for spec in specs:
        metric(spec)


def test_settings_of_the_papers_can_be_made_as_typed():
    page = (ROOT / "docs" / "guides" / "papers.md").read_text(encoding="utf-8")
    typed = {one.strip('"') for line in re.findall(r"^\|.*", page, flags=re.M) for one in re.findall("`([^`]+)`", line)}
    known = {*METRICS.names(), *SUMS}
    specs = [one for one in typed if one.partition(":")[0] in known or " + " in one]
    assert len(specs) > 20
    for spec in specs:
        if spec != "paper/bartscore-f":
            metric(spec)


def test_a_term_is_in_the_glossary_once():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = [term for cell in rows(text) for term in cell.strip().split(", ") if term not in ("word", "---")]
    assert 30 <= len(terms) <= 45
    assert len(terms) == len(set(terms))


# Words of others for which the glossary has one of ours, unless they are a name in code.
ELSEWHERE = (
    r"\b(candidates?|annotators?|gold|challenge sets?|test suites?|corpus scores?|held against|seen by|turned round)\b"
)


def test_pages_say_the_words_of_the_glossary():
    found = []
    for page in PAGES:
        if page.stem not in ("glossary", "migrating") and page.parent.name != "python":
            text = re.sub(r"^```.*?^```$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
            found += [f"{page.relative_to(ROOT)}: {match[0]}" for match in re.finditer(ELSEWHERE, text)]
    assert not found


def test_the_test_of_every_promise_exists():
    """The page of promises names the test that holds each, as pytest does."""
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    promises = page.partition("\n## Promises\n")[2].partition("\n## ")[0]
    held = [line.split(" | ")[-1] for line in promises.splitlines() if line.startswith("| ")][1:]
    assert len(held) > 50
    for cell in held:
        file, test = re.fullmatch(r"`(tests/[\w/]+\.py)::(test_\w+)` \|", cell).groups()
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), flags=re.M), cell


def test_what_tries_each_invariant_exists():
    page = (ROOT / "docs" / "invariants.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 11
    for row in rows:
        cell = row.split(" | ")[-1]
        tried = re.findall(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`", cell)
        checks = re.findall(r"`(\w+)`", cell.partition("(")[2]) if "check_metric" in cell else []
        assert tried or checks, row
        for file, test in [*tried, *(("src/nlgauge/testing/metric.py", check) for check in checks)]:
            assert re.search(rf"^def {test}\b", (ROOT / file).read_text(encoding="utf-8"), flags=re.M), (file, test)


DOORS = (
    "nlgauge",
    *sorted(
        f"nlgauge.{path.parent.name}"
        for path in SOURCE.glob("*/__init__.py")
        if "door(" in path.read_text(encoding="utf-8")
    ),
)


def tool(name):
    """A program of recipes/tools, as a module."""
    tools = str(ROOT / "recipes" / "tools")
    sys.path.insert(0, tools)  # it imports its neighbour
    try:
        return import_module(name)
    finally:
        sys.path.remove(tools)


@pytest.fixture(scope="module")
def site():
    """The program that makes the pages of the site."""
    return tool("site_pages")


@pytest.fixture(scope="module")
def reference():
    """The program that makes the reference."""
    return tool("reference")


def test_the_reference_is_not_stale(reference):
    """Pages of perturbations are doctests, which say so themselves."""
    folder = ROOT / "docs" / "reference"
    made = reference.pages()
    stale = [name for name, text in made.items() if (folder / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run: python recipes/tools/reference.py"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    assert {name for name in there if not name.startswith("perturbations/")} == made.keys()


# A second for all of the source, and `make reference` reads it anyhow: one package by day.
@pytest.mark.parametrize("package", ["nlgauge.stats", *(pytest.param(door, marks=pytest.mark.slow) for door in DOORS)])
def test_the_reference_has_every_public_name_with_its_docstring(reference, package):
    page = reference.package_page(package)
    found = re.findall(r"^## `(\w+)`\n\n```python\n(.*?)\n```\n(?=\n?(.*))", page, flags=re.M | re.S)
    assert sorted(name for name, _, _ in found) == sorted(import_module(package).__all__)
    assert [name for name, shown, _ in found if name not in shown] == []
    called = [(name, text) for name, shown, text in found if shown.startswith((f"{name}(", "class "))]
    assert called
    assert [name for name, text in called if text.startswith(("#", "```"))] == []


def test_the_reference_has_every_package(reference):
    assert reference.packages() == list(DOORS)


def test_a_docstring_becomes_lists_and_plain_text(reference):
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
    assert [part.strip() for part in reference.prose(docstring)] == parts
    assert reference.signature("f", "x: dict[str, int], " + "z: int=0, " * 9).splitlines()[:2] == [
        "f(",
        "    x: dict[str, int],",
    ]


def test_links_of_the_site_stay_in_the_site(site):
    links = "[one](../README.md#x), [two](cli.md), [three](https://a.b), [four](#c), [five](../Makefile)"
    shown = site.moved(site.within(ROOT / "docs" / "a.md", links))
    assert shown == "[one](index.md), [two](cli.md), [three](https://a.b), [four](#c), five (`Makefile`)"


def test_the_site_begins_with_the_readme(site):
    shown = site.home((ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown.startswith("# nlgauge\n")
    assert "](images/report_verdict.png)" in shown
    assert "](start.md)" in shown
    assert "](index.md" not in shown


def test_addresses_of_old_lead_to_a_page_and_a_heading_that_exist(site):
    lost = []
    for old, new in site.redirects().items():
        page, _, heading = new.partition("#")
        path = ROOT / "docs" / page
        titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.M) if path.exists() else []
        if not titles or (heading and heading not in map(anchor, titles)):
            lost.append(f"{old}: {new}")
        assert not (ROOT / "docs" / f"{old}.md").exists(), f"{old} is a page"
    assert not lost


def anchor(title):
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
