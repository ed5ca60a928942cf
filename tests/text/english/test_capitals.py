import pytest

from nlgauge.text.doc import Token
from nlgauge.text.english.capitals import is_name_like


@pytest.mark.parametrize(
    ("text", "tag", "expected"),
    [
        ("Anna", "NNP", True),
        ("I", "PRP", True),
        ("NATO", "NN", True),
        ("German", "JJ", True),
        ("House", "NN", False),
        ("A", "DT", False),
        ("the", "DT", False),
    ],
)
def test_what_keeps_its_capital_inside_a_sentence(text, tag, expected):
    assert is_name_like(Token(0, 0, len(text), text, tag)) is expected
