from __future__ import annotations

import json
from hashlib import sha256

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.metrics.scales import bounds_identity, bounds_key, read_bounds, save_bounds, zero_and_width


def test_zero_and_width_worked_by_hand():
    values = np.array([0.0, 2.0, np.nan, 4.0])
    assert zero_and_width(values, "minmax", "m") == (0.0, 4.0)
    assert zero_and_width(values, "zscore", "m") == pytest.approx((2.0, (8 / 3) ** 0.5))  # mean, and one deviation


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [np.nan, 1.0], [np.nan], []])
def test_a_pool_of_one_value_has_no_scale(values):
    with pytest.raises(InputError, match=rf"^m is the same for all {len(values)} segments of the call"):
        zero_and_width(np.array(values), "minmax", "m")


def test_what_is_saved_is_read_back(tmp_path):
    path = str(tmp_path / "bounds.json")
    scale = {"ter": (-80.0, -10.0), "1*bleu + 1*ter": (0.25, 1.5)}
    save_bounds(path, [Scores(Signature("s", ()), (), np.zeros(0), scale={k: v}) for k, v in scale.items()])
    assert {key: read_bounds(path, key) for key in scale} == scale
    with open(path, "rb") as file:
        assert bounds_identity(path) == f"sha256:{sha256(file.read()).hexdigest()[:16]}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"other": [0, 1]}, r'expected \{"bounds": \{"given": \[low, high\]\}\} with two numbers'),
        ({"given": [0]}, r'expected \{"bounds"'),
        ({"given": ["a", "b"]}, r'expected \{"bounds"'),
        ("not json", r'expected \{"bounds"'),
        ("[]", r'expected \{"bounds"'),
        ("3", r'expected \{"bounds"'),
        ({"given": [1, 1]}, r"bounds of given are 1 and 1, expected two finite numbers, the lower first$"),
        ({"given": [2, 1]}, r"bounds of given are 2 and 1, expected two finite numbers, the lower first$"),
        ('{"bounds": {"given": [NaN, 1]}}', r"expected two finite numbers, the lower first$"),
    ],
)
def test_a_bounds_file_that_is_none_is_refused_with_what_it_should_hold(tmp_path, content, message):
    path = tmp_path / "bounds.json"
    path.write_text(content if isinstance(content, str) else json.dumps({"bounds": content}))
    with pytest.raises(InputError, match=message) as error:
        read_bounds(str(path), "given")
    assert "bounds.json: " in str(error.value)


def test_a_bounds_file_that_is_missing_is_named():
    with pytest.raises(InputError, match=r"^cannot read bounds absent\.json: No such file or directory$"):
        read_bounds("absent.json", "given")


def test_a_term_is_named_by_what_it_is_not_by_how_its_own_terms_are_scaled():
    inner = {
        norm: ng.metric(f"1*(1*bleu + 1*ter[norm={norm}])").terms[0][1]
        for norm in ("minmax", "zscore", 'file("x.json")', "none")
    }
    assert (
        bounds_key(inner["minmax"])
        == bounds_key(inner["zscore"])
        == bounds_key(inner['file("x.json")'])
        == "1*bleu + 1*ter"
    )
    assert bounds_key(inner["none"]) == "1*bleu + 1*ter[norm=none]"
