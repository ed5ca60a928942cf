"""Arguments of another type than a public function declares: an error of ours, which names them."""

import pytest

import nlgauge as ng
from nlgauge.core.scores import warning
from nlgauge.io import read_scores, write_answers

HYPS, REFS = ["a cat sat"], ["the cat sat"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ng.fetch(["embedded"]), r"^fetch: names is \['embedded'\], expected a text$"),
        (lambda: ng.fetch(None), "^fetch: names is None, expected a text$"),
        (lambda: read_scores(None), "^read_scores: expected str, bytes or os.PathLike object, not NoneType$"),
        (lambda: ng.read(None), "^read: expected str, bytes or os.PathLike object, not NoneType$"),
        (lambda: ng.read_suite(["a"]), "^read_suite: expected str, bytes or os.PathLike object, not list$"),
        (lambda: ng.score(HYPS, REFS, metrics="chrf", runtime="cpu"), "^score: runtime is 'cpu', expected Runtime$"),
        (lambda: ng.align("a", "b", runtime="cpu"), "^align: runtime is 'cpu', expected Runtime$"),
        (lambda: ng.correlation(3, [1, 2], [1, 2]), "^correlation: name is 3, expected a text$"),
        (
            lambda: write_answers(None, [ng.Segment("1", "a", ("b",), system="s", item="i")], error_free=[True]),
            "^write_answers: path is None, expected a text or PathLike",
        ),
    ],
)
def test_an_argument_of_another_type_is_named(call, told):
    with pytest.raises(ng.InputError, match=told):
        call()


def test_a_fault_that_is_not_of_the_arguments_and_a_wrong_call_stay_what_they_are():
    @warning
    def fails(number: int, *others: str) -> None:
        len(number)

    with pytest.raises(TypeError, match="has no len"):
        fails(3)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        fails()
    with pytest.raises(ng.InputError, match=r"^fails: others is 4, expected a text$"):
        fails(3, "a", 4)


def test_what_behaves_as_the_type_is_taken():
    @warning
    def counted(names: list[str]) -> int:
        return len(names)

    assert counted(("a", "b")) == 2
