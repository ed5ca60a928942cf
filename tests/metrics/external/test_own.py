from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.external.own import External
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

MODULE = """
PACKAGES = ["torch"]
def score(rows):
    found = []
    for row in rows:
        others = {word for text in row.get("refs", [row.get("src", "")]) for word in text.split()}
        own = set(row["hyp"].split())
        found.append(None if "undefined" in own else len(own & others) / max(1, len(own | others)))
    return found
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    return str(path)


def test_the_contract_holds(module, other_python):
    check_metric(External(module=module, python=str(other_python), needs="references source"))


def test_every_option_is_signed(module, tmp_path):
    other = tmp_path / "other.py"
    other.write_text(MODULE)
    assert check_options(External(module=module), alternatives={"module": str(other), "needs": "source"}) == ["python"]


def test_rows_hold_what_is_needed(module):
    metric = ng.metric(f'external:module="{module}",needs="source references"')
    assert metric.info.needs == {"references", "source"}
    assert metric.score([Segment("1", "a", ("a",), source="b")], Runtime()).values.tolist() == [1]


def test_a_program_with_a_folder_is_that_file_and_none_of_the_path(module, tmp_path, monkeypatch, other_python):
    (tmp_path / "bin").mkdir()
    for place, line in (("mine", f'exec "{other_python}" "$@"'), ("bin/mine", "exit 3")):
        (tmp_path / place).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / place).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    assert "|torch:9.5|" in str(signature_of(External(module=module, python="./mine"), Runtime()))
    with pytest.raises(ng.InputError, match="exit status 3"):
        signature_of(External(module=module, python="mine"), Runtime())


def test_the_file_and_the_packages_that_it_names_are_signed(module, other_python):
    text = str(signature_of(External(module=module, python=str(other_python)), Runtime()))
    assert "|module:mine.py|" in text
    assert "|sha256:sha256:" in text
    assert "|torch:9.5|" in text


def test_an_error_rate_gives_blank_texts_its_highest_value(module):
    metric = External(module=module, high=5.0, higher_is_better=False)
    found = metric.score([Segment("1", " ", ("a",)), Segment("2", "undefined", ("a",))], Runtime())
    assert found.values[0] == 5
    assert not found.higher_is_better
    assert found.flags["nonfinite"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"needs": "reference"}, "external:needs names 'reference'; did you mean 'references'?"),
        ({"low": 1.0}, "external:low is 1, expected below high, which is 1"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    with pytest.raises(ng.SpecError) as caught:
        External(module="x.py", **options)
    assert str(caught.value) == told


def test_a_module_that_is_nowhere_is_told():
    with pytest.raises(ng.InputError, match=r"^external: the worker failed: ModuleNotFoundError: No module named 'non"):
        ng.score(["a"], ["b"], metrics="external:module=none_such")
