"""Features of a regressor: by hand on small numbers, names that say what they are."""

import pytest

from nlgauge.core.errors import InputError
from nlgauge.models.features import MATCHED, combined, feature_names, n_features, texts_of

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, "hyp,ref,hyp*ref,|hyp-ref|"),
        ({"kind": "2h"}, "hyp*ref,|hyp-ref|"),
        ({"source": True}, "hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|"),  # COMET's estimator
        ({"source": True, "kind": "2h"}, "hyp*src,hyp*ref,|hyp-src|,|hyp-ref|"),
        ({"source": True, "reference": False}, "hyp,src,hyp*src,|hyp-src|"),
        ({"kind": "4h+match"}, "hyp,ref,hyp*ref,|hyp-ref|,match"),
        ({"kind": "2h+match", "source": True}, "hyp*src,hyp*ref,|hyp-src|,|hyp-ref|,match"),
    ],
)
def test_the_blocks_of_each_kind(options, names):
    found = feature_names(**options)
    assert ",".join(found) == names
    assert texts_of(found) == tuple(text for text in ("hyp", "ref", "src") if text in names)


def test_the_features_of_three_numbers_by_hand():
    hyp, ref, src = torch.tensor([[1.0, -2.0, 0.5]]), torch.tensor([[3.0, 2.0, 0.0]]), torch.tensor([[0.0, 1.0, 1.0]])
    vectors = {"hyp": hyp, "ref": ref, "src": src}
    assert combined(feature_names(), vectors).tolist() == [[1, -2, 0.5, 3, 2, 0, 3, -4, 0, 2, 4, 0.5]]
    assert combined(feature_names("2h"), vectors).tolist() == [[3, -4, 0, 2, 4, 0.5]]
    assert combined(feature_names(source=True), vectors).tolist() == [
        [1, -2, 0.5, 3, 2, 0, 0, -2, 0.5, 3, -4, 0, 1, 3, 0.5, 2, 4, 0.5]
    ]


@pytest.mark.parametrize("name", ["mt", "hyp*mt", "hyp-ref", "|hyp|", "hyp*ref*src", ""])
def test_features_that_are_none_are_refused_by_name(name):
    with pytest.raises(InputError, match=r"feature '.*' is unknown, expected one like hyp, hyp\*ref or \|hyp-ref\|"):
        texts_of([name])


def test_a_regressor_needs_something_to_hold_a_text_against():
    with pytest.raises(InputError, match="nothing to hold a text against"):
        feature_names(reference=False)
    with pytest.raises(InputError, match=r"features is '3h', expected 4h, 2h, match, 4h\+match, 2h\+match or both"):
        feature_names("3h")
    with pytest.raises(InputError, match="features is 'match', which matches a text with its reference, and no"):
        feature_names("match", reference=False, source=True)


def test_both_texts_in_one_sequence_are_hypothesis_and_reference():
    assert (feature_names("both"), texts_of(["both"])) == (("both",), ("hyp", "ref"))
    with pytest.raises(InputError, match="in one sequence and no source"):
        feature_names("both", reference=False, source=True)


def test_matching_alone_reads_both_texts_and_no_vectors():
    assert (feature_names("match"), texts_of(["match"])) == (("match",), ("hyp", "ref"))
    assert n_features(feature_names("match"), 384) == len(MATCHED) == 19
    assert n_features(feature_names("2h+match"), 384) == 2 * 384 + 19
    matched, vectors = torch.arange(19.0)[None], {"hyp": torch.tensor([[2.0]]), "ref": torch.tensor([[5.0]])}
    assert combined(feature_names("2h+match"), vectors, matched).tolist() == [[10, 3, *range(19)]]
