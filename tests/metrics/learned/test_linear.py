"""A linear model in a file: its arithmetic by hand, the same after a trip through the file, and what is refused."""

import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.metrics.learned.linear import LinearModel, Term, read_linear

MODEL = LinearModel("blend", (Term("chrf", 0.5, 40.0, 10.0), Term("ter", -0.2, 2.0, 4.0)), 0.1, {"criterion": "da"})


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(MODEL.text())
    return file


def test_weights_are_of_standard_deviations():
    assert MODEL.slopes == pytest.approx([0.05, -0.05])
    assert MODEL.origin == pytest.approx(0.1 - 0.05 * 40 + 0.05 * 2)


def test_a_file_gives_back_what_was_written(path):
    found = read_linear(str(path), "blend")
    assert (found.kind, found.terms, found.intercept, found.about) == ("blend", MODEL.terms, 0.1, {"criterion": "da"})
    assert found.digest.startswith("sha256:")
    assert found.facts() == {"model": "file", "weights": found.digest, "trained": "human ratings"}


def changed(path, **changes):
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "beer"}, "is nlgauge-linear 1 beer, expected nlgauge-linear 1 blend; name another file"),
        ({"version": 2}, "is nlgauge-linear 2 blend, expected nlgauge-linear 1 blend"),
        ({"version": "a\nb"}, "is nlgauge-linear a b blend, expected nlgauge-linear 1 blend"),
        ({"terms": [{"name": "a\nb", "weight": 1, "mean": 0, "sd": 1}] * 2}, "of different names, got a b, a b"),
        ({"terms": []}, "expected terms of different names, got none"),
        (
            {"terms": [{"name": "a", "weight": 1, "mean": 0, "sd": 1}] * 2},
            "expected terms of different names, got a, a",
        ),
        ({"terms": [{"name": "a", "weight": 1, "mean": 0, "sd": 0}]}, "expected finite numbers, and each sd above 0"),
        ({"terms": [{"name": "a", "weight": 1}]}, "is no model, expected JSON as 'nlgauge train blend' writes it"),
        ({"terms": [{"name": "a", "weight": "x", "mean": 0, "sd": 1}]}, "is no model, expected JSON"),
        ({"terms": [{"name": "a", "weight": 1, "mean": 0, "sd": "1"}]}, "is no model, expected JSON"),
        ({"terms": [{"name": "a", "weight": 1, "mean": True, "sd": 1}]}, "is no model, expected JSON"),
        ({"terms": [{"name": ["a"], "weight": 1, "mean": 0, "sd": 1}]}, "expected terms of different names, got ['a']"),
        ({"terms": [{"name": {}, "weight": 1, "mean": 0, "sd": 1}]}, "expected terms of different names, got {}"),
        ({"terms": [{"name": "a", "weight": 10**400, "mean": 0, "sd": 1}]}, "is no model, expected JSON"),
        ({"intercept": -(10**400)}, "is no model, expected JSON"),
        ({"intercept": "0"}, "is no model, expected JSON"),
        ({"kind": "x" * 9999}, "x, expected nlgauge-linear 1 blend; name another file"),
        ({"intercept": None}, "is no model, expected JSON as 'nlgauge train blend' writes it"),
        ({"intercept": float("nan")}, "expected finite numbers"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_what_is_no_model_is_told_in_a_line(path, changes, message):
    changed(path, **changes)
    with pytest.raises(InputError) as caught:
        read_linear(str(path), "blend")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_damaged_file_and_none_at_all_are_told_in_a_line(path, tmp_path):
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match=r"model\.json is no model, expected JSON"):
        read_linear(str(path), "blend")
    with pytest.raises(
        InputError, match=r"cannot read .*: No such file or directory; 'nlgauge train blend' writes one"
    ):
        read_linear(str(tmp_path / "absent.json"), "blend")
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        read_linear(str(tmp_path), "blend")
