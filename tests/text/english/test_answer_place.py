"""Behind which word of a question its answer belongs."""

import pytest

from nlgauge.text.english.answer_place import answer_place
from nlgauge.text.english.inversion import take_apart
from nlgauge.text.english.questions import questions
from nlgauge.text.languages import language


@pytest.mark.parametrize(
    ("text", "adverbial", "behind"),
    [
        # behind the verb that has the object, the last of a chain
        ("What did she ask from the king?", False, "ask"),
        ("What does he hope to find there?", False, "find"),
        ("What did he give up?", False, "up"),
        # behind a preposition that has lost what it governs
        ("What is she looking at?", False, "at"),
        # at the end of the clause, before another one
        ("Where does he go when it rains?", True, "go"),
        ("Why did the old clock stop, for example?", True, "stop"),
        ("Where do they buy their bread?", True, "bread"),
        # what is graded stands behind "be" and its subject
        ("How old was she when she moved?", False, "she"),
    ],
)
def test_the_answer_goes_where_the_verb_wants_it(text, adverbial, behind):
    doc = language().analyse(text)
    question = questions(doc)[0]
    clause = take_apart(doc, question.verb, question.end, whole=True)
    assert clause is not None
    place = answer_place(doc, question, clause, False, adverbial)
    assert place is not None
    assert doc.tokens[place].text == behind


def test_there_is_no_telling_where_a_thing_belongs_without_a_verb_for_it():
    doc = language().analyse("What is the weather like?")
    question = questions(doc)[0]
    clause = take_apart(doc, question.verb, question.end, whole=True)
    assert clause is None or answer_place(doc, question, clause, False, False) in (None, len(doc.tokens) - 2)
