"""What pages show is run as a reader pastes it: page by page, in a folder with a copy of `examples/` and nothing else.

Commands run in this process, and all of them share models and a cache of scores. Python with prompts is a doctest.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from nlgauge import Runtime
from nlgauge.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path.exists() and not path.is_relative_to(ROOT / "docs" / "reference")  # its commands are those of the help
]

# A block that is not run says so to its reader: its first line is one of these, and may go on with a colon.
NOT_RUN = {
    "# needs data": "public test sets, which no test downloads, or files that only the reader has",
    "# needs an endpoint": "a server with a language model, which tests stand in for on loopback",
    "# needs training": "minutes to hours of training, or what such a training wrote",
    "# needs the network": "packages or models of the hub",
    "# needs a package": "a package of others, with which tests/adapters/test_page.py runs the block where it is",
    "# needs a checkout": "recipes, benchmarks and tests of the repository, which take minutes to hours",
}
# These take a second or more each, and others like them are run anyhow: they run at night.
NIGHT = bool(os.environ.get("NLGAUGE_SLOW"))
SLOW = (
    "nlgauge audit examples/weather.jsonl --suite menli -m chrf,bertscore,rated,nli",
    "nlgauge choose examples/weather.jsonl --task d2t -m chrf,bertscore,rated,nli",
    "nlgauge select examples/weather.jsonl --judgements examples/weather_ratings.tsv -m chrf -c adequacy --hybrids",
    "nlgauge sweep DATA --suite pairs.jsonl -m bertscore --with nli",
)
# Words that stand for something of the reader's.
PLACEHOLDERS = {"DATA": "data.jsonl", "OLD": "template"}
NUMBER = re.compile(r"[-+]?\d+\.\d+")

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the pages are not beside the tests")


def blocks(text):
    """The language and the content of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)


def shown(page):
    """The blocks of a page that a reader can run: language, content, and the output that follows a lone command."""
    found = blocks(page.read_text(encoding="utf-8"))
    for (language, content), (following, output) in zip(found, [*found[1:], ("", "")], strict=False):
        if content.startswith(("nlgauge ", "$ nlgauge ", "# needs ")) or language == "sh":
            lone = following == "text" and content.replace("\\\n", "").count("\n") == 1 and not output.startswith("$ ")
            yield "sh", content, output if lone else ""
        elif language == "python" and ">>>" not in content:
            yield "python", content, ""
        elif language == "yaml":
            yield "sh", "\n".join(re.findall(r"^ *- run: (nlgauge .+)$", content, flags=re.M)), ""


RUN = [page for page in PAGES if any(not content.startswith(tuple(NOT_RUN)) for _, content, _ in shown(page))]


def steps(content, output):
    """The commands of a block, each with what it prints and its exit code; `$` marks them where output stands below."""
    if content.startswith("$ "):
        for part in re.split(r"^\$ ", content, flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            if not command.startswith("echo $?"):
                code = re.search(re.escape(part) + r"\$ echo \$\?\n(\d+)$", content, flags=re.M)
                yield command, printed, int(code[1]) if code else 0
        return
    for line in content.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line, output, 0


def run(line, monkeypatch, capsys):
    """Run one line of a shell with `nlgauge` in it: another program may feed it, and a file may take what it prints."""
    fed, _, after = line.rpartition(" | ")
    words = shlex.split(after, comments=True)
    target = words.pop() if len(words) > 2 and words[-2] == ">" else None
    words = [PLACEHOLDERS.get(word, word) for word in words if word != ">"]
    assert words[0] == "nlgauge", f"{line!r} is not run; its block needs one of {', '.join(NOT_RUN)}"
    if fed:
        given = subprocess.run(fed, shell=True, capture_output=True, check=True).stdout
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
    code = main(words[1:])
    printed = capsys.readouterr()
    if target:
        Path(target).write_text(printed.out, encoding="utf-8")
    return code, printed


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """What all pages share: the models in memory by key, and the folder of the cache."""
    return {}, tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(kept, monkeypatch, tmp_path):
    """A folder with `examples/`, and with a reader's own data: sources, references and ratings."""
    models, cache = kept

    def once(self, key, load):
        key = (self.device, self.dtype, key)
        if key not in models:
            models[key] = load()
        return models[key]

    monkeypatch.setattr(Runtime, "once", once)
    monkeypatch.setenv("NLGAUGE_CACHE", str(cache))
    monkeypatch.setenv("COLUMNS", "160")  # a narrow terminal shows one table per metric
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    ratings = [line.split("\t") for line in Path("examples/weather_ratings.tsv").read_text().splitlines()[1:]]
    lines = Path("examples/weather.jsonl").read_text(encoding="utf-8").splitlines()
    with Path("data.jsonl").open("w", encoding="utf-8") as file:
        for row, (_, adequacy, _) in zip(map(json.loads, lines), ratings, strict=True):
            row |= {"src": row["refs"][0], "human": {"adequacy": int(adequacy)}}
            file.write(json.dumps(row) + "\n")
    return tmp_path


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_runs_as_pasted(page, folder, monkeypatch, capsys):
    names: dict = {}
    for language, content, output in shown(page):
        if content.startswith(tuple(NOT_RUN)):
            continue
        if language == "python":
            exec(content, names)
            capsys.readouterr()
            continue
        for line, told, expected in steps(content, output):
            if line.startswith(SLOW) and not NIGHT:
                continue
            code, printed = run(line, monkeypatch, capsys)
            assert code == expected, f"{line}: {printed.err}"
            if told:
                check(told, printed.out if expected == 0 else printed.out + printed.err)


def check(told, printed):
    """Hold what a page shows against the lines that were printed; lines for which it has `...` are passed over.

    The last digits of a model's floats differ between processors, which may turn the last digit that is shown.
    """
    lines = printed.split("\n")
    for part in re.split(r"^\.\.\.\n", told, flags=re.M):
        wanted = part.rstrip("\n").split("\n")
        starts = [i for i, line in enumerate(lines) if like(line) == like(wanted[0])]
        seen = lines[starts[0] : starts[0] + len(wanted)] if starts else lines
        assert list(map(like, wanted)) == list(map(like, seen))
        numbers = [[float(number) for number in NUMBER.findall("\n".join(text))] for text in (wanted, seen)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.002)


def like(line):
    """A line without its decimal numbers."""
    return NUMBER.sub("#", line)


def test_blocks_that_are_not_run_give_a_reason_that_is_known():
    marks = [content.partition("\n")[0] for page in PAGES for _, content in blocks(page.read_text(encoding="utf-8"))]
    given = {mark.partition(":")[0] for mark in marks if mark.startswith("# needs ")}
    assert given == NOT_RUN.keys()


def test_every_output_has_its_command():
    """A figure follows a command in the same block or in the block above it; a page with tables of figures has one."""
    figure = re.compile(r"\d\.\d")
    faults = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = blocks(text)
        for (before, _), (language, content) in zip([("", ""), *found], found, strict=False):
            alone = language in ("", "text") and before != "sh" and not content.startswith(("$ ", "# needs "))
            if alone and figure.search(content):
                faults.append(f"{page.relative_to(ROOT)}: {content[:60]!r}")
        measured = re.findall(r"^\|.*\| *-?\d*\.\d{2,} *\|.*\|$", text, flags=re.M)
        if len(measured) > 3 and not re.search(r"nlgauge [a-z]+ |(recipes|benchmarks|tests)/\S+\.(py|sh)", text):
            faults.append(f"{page.relative_to(ROOT)}: {measured[0]}")
    assert not faults
