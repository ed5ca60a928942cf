"""Files of the hub: a cache in the form of the hub's stands in for it, and its own client reads that offline."""

from __future__ import annotations

import json

import pytest

from nlgauge.cli.main import main
from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.io.files.hub import fetched
from nlgauge.io.read import read

constants = pytest.importorskip("huggingface_hub.constants")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = [{"id": str(i), "system": "s", "hyp": f"a cat {i}", "refs": ["the cat"]} for i in range(5)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache with one data set, whose branch main is at a commit."""
    fetched.cache_clear()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))  # of workers
    folder = tmp_path / "hub" / "datasets--owner--name"
    data = folder / "snapshots" / COMMIT / "data" / "test.jsonl"
    data.parent.mkdir(parents=True)
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "refs" / "refs" / "convert").mkdir(parents=True)
    for name in ("main", "refs/convert/parquet"):
        (folder / "refs" / name).write_text(COMMIT)
    monkeypatch.chdir(tmp_path)
    yield folder
    fetched.cache_clear()


PINNED = f"hf://datasets/owner/name@{COMMIT}/data/test.jsonl"


@pytest.mark.parametrize("revision", ["", "@main", f"@{COMMIT}", "@refs%2Fconvert%2Fparquet"])
def test_a_path_is_pinned_to_the_commit(revision, cache):
    pinned, place = fetched(f"hf://datasets/owner/name{revision}/data/test.jsonl")
    assert pinned == PINNED
    assert place == str(cache / "snapshots" / COMMIT / "data" / "test.jsonl")


def test_a_file_of_the_hub_is_read_as_any_other():
    data = read("hf://datasets/owner/name/data/test.jsonl")
    assert [segment.hypothesis for segment in data.segments] == [row["hyp"] for row in ROWS]
    assert data.name == PINNED


def test_a_hub_that_does_not_answer_is_asked_once(cache, monkeypatch):
    """What is in the cache is read; of the rest one line tells, without the client's own tries."""
    import huggingface_hub

    def silent(self, *args, **options):
        asked.append(args)
        raise ConnectionError("Name or service not known")

    asked: list[object] = []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", silent)
    assert fetched("hf://datasets/owner/name/data/test.jsonl")[0] == PINNED
    with pytest.raises(InputError, match="cannot be fetched"):
        fetched("hf://datasets/owner/name/data/other.jsonl")
    assert len(asked) == 2
    assert fetched(PINNED)[0] == PINNED
    assert len(asked) == 2, "a commit that is in the cache needs no answer"


def test_a_name_that_no_data_set_can_have_is_told_as_such():
    with pytest.raises(InputError, match=r"Repo id|Cannot have"):
        fetched("hf://datasets/owner/a--b/x.jsonl")


def test_other_paths_stay_as_they_are():
    assert fetched("data/test.jsonl") == ("data/test.jsonl", "data/test.jsonl")


@pytest.mark.parametrize("path", ["hf://owner/name/x.jsonl", "hf://datasets/name/x.jsonl", "hf://datasets/owner/name"])
def test_what_is_no_file_of_a_data_set_is_refused(path):
    with pytest.raises(InputError, match="expected hf://datasets/OWNER/NAME/PATH"):
        read(path)


def test_offline_the_error_says_what_to_do():
    with pytest.raises(InputError) as error:
        read("hf://datasets/owner/name@v2/data/other.parquet")
    assert "cannot be fetched (HF_HUB_OFFLINE is set)" in str(error.value)
    assert "run 'hf download --repo-type dataset owner/name data/other.parquet --revision v2'" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_command_of_the_error_can_be_pasted():
    with pytest.raises(InputError, match=r"owner/name 'data/a b&c\.parquet' --revision 'v 2'' where"):
        read("hf://datasets/owner/name@v%202/data/a b&c.parquet")


def test_without_the_client_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[hf\]"):
        read("hf://datasets/owner/name/data/test.jsonl")


def test_a_run_in_parts_keeps_the_commit_and_needs_no_branch(cache, capsys):
    pytest.importorskip("pyarrow")
    path = "hf://datasets/owner/name/data/test.jsonl"
    assert main(["score", path, "-m", "chrf", "--no-cache", "--json", "one.json"]) == 0
    words = ["score", path, "-m", "chrf", "--engine", "pool", "-o", "out", "--workers", "1", "--json", "parts.json"]
    assert main(words) == 0
    with open("one.json") as one, open("parts.json") as parts, open("out/plan.json") as plan:
        found, wanted = json.load(parts), json.load(one)
        assert json.load(plan)["inputs"]["data"] == PINNED
    assert (found["rows"], found["inputs"]) == (wanted["rows"], wanted["inputs"])
    assert found["inputs"][0]["path"] == PINNED
    for ref in ("main", "refs/convert/parquet"):
        (cache / "refs" / ref).write_text("f" * 40)  # the branch has moved on; the commit of the plan is still there
    assert main([PINNED if word == path else word for word in words]) == 0
