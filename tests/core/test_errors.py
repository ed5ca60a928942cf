import pickle

import pytest

from nlgauge.core.errors import InputError, MissingExtra, NlgaugeError, SpecError, each, nearest


@pytest.mark.parametrize(
    ("error", "builtin"), [(InputError, ValueError), (SpecError, ValueError), (MissingExtra, ImportError)]
)
def test_each_error_is_ours_and_what_python_calls_it(error, builtin):
    assert issubclass(error, NlgaugeError)
    assert issubclass(error, builtin)


def test_a_missing_extra_says_what_to_run():
    assert (
        str(MissingExtra("Parquet", "parquet"))
        == "Parquet needs packages that are not installed; run: pip install 'nlgauge[parquet]', or in a checkout of"
        " nlgauge: pip install '.[parquet]'"
    )


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("blue", ["bleu", "chrf"], "; did you mean 'bleu'?"),
        ("ROUGEl", ["rougeL", "bleu"], "; did you mean 'rougeL'?"),  # case does not keep a name from being near
        (
            "rouge",
            ["rouge1", "rouge2", "rougeL", "rougeLsum", "bleu"],
            "; did you mean 'rougeL' or 'rouge2' or 'rouge1'?",
        ),
        ("qqqq", ["bleu", "chrf"], "; known: bleu, chrf"),
        ("anything", [], ""),
    ],
)
def test_the_nearest_names_end_an_error(name, known, hint):
    assert nearest(name, known) == hint


@pytest.mark.parametrize("error", [InputError("a.txt:1: no"), MissingExtra("Parquet", "parquet")])
def test_an_error_of_a_worker_reaches_its_command(error):
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent)) == (type(error), str(error))


def test_an_error_is_one_line_whatever_the_names_in_it_hold():
    assert str(InputError("fields found: a\nb, \x1b[1mc, \u202ed, é 雨")) == (
        r"fields found: a\nb, \x1b[1mc, \u202ed, é 雨"
    )


def test_each_makes_all_or_names_all_that_it_cannot():
    def half(n):
        if n % 2:
            raise SpecError(f"{n} is odd")
        return n // 2

    assert each(half, [2, 4]) == [1, 2]
    with pytest.raises(SpecError, match=r"^3 is odd$"):
        each(half, [2, 3, 3])
    with pytest.raises(SpecError, match=r"^3 is odd; and 5 is odd$"):
        each(half, [3, 4, 5])


def test_long_names_and_long_messages_are_cut():
    name, many = "n" * 6000, ", ".join(map(repr, range(3000)))
    assert str(InputError(f"f.csv:1: no column {name!r}; columns found: 'a'")) == (
        f"f.csv:1: no column '{'n' * 100}...'; columns found: 'a'"
    )
    told = str(InputError(f"f.csv:1: columns found: {many}; give --columns"))
    assert len(told) < 2100
    assert told.startswith("f.csv:1: columns found: 0, 1")
    assert told.endswith("; give --columns")
    assert str(InputError(name[:150])) == name[:150]
    command = f"run '{' '.join(['pip download'] * 40)}'"  # which a reader pastes
    assert str(InputError(command)) == command
