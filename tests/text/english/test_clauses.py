import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.perturb import make_cases
from nlgauge.text.doc import Token
from nlgauge.text.english.clauses import find_clauses, modifies, things, with_hangers
from nlgauge.text.languages import language


def gone(text, *names):
    doc = language().analyse(text)
    spans = [span(doc, name) for name in names]
    places = with_hangers(doc, spans)
    return " ".join(t.text for t in doc.tokens if t.index not in places)


def span(doc, name):
    start = doc.text.index(name)
    inside = [t.index for t in doc.tokens if start <= t.start < start + len(name)]
    return doc.span(inside[0], inside[-1])


def test_what_cannot_stay_goes_and_no_more(cases):
    for text, names, left in cases:
        assert gone(text, *names.split(" | ")) == left


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("the Rome office", "Rome", True),
        ("a Rome-based firm", "Rome", True),
        ("the Rome central station", "Rome", True),
        ("in Rome last week", "Rome", False),
        ("in Rome yesterday", "Rome", False),
        ("in Rome", "Rome", False),
    ],
)
def test_a_name_before_its_noun(text, name, expected):
    doc = language().analyse(text)
    assert modifies(doc, span(doc, name)) is expected


def test_the_work_grows_with_the_text_and_not_with_its_square(monkeypatch):
    looks = 0

    def look(token):
        nonlocal looks
        looks += 1
        return token.text in ("'", ",")

    monkeypatch.setattr(Token, "is_punctuation", property(look))

    def needed(n):
        nonlocal looks
        doc = language().analyse("'ed, and " * n)
        looks = 0
        with_hangers(doc, [doc.span(i, i) for i, t in enumerate(doc.tokens) if t.text == "ed"])
        return looks

    assert needed(400) < 6 * needed(100)  # 4 times as much if linear, 16 times if not


def things_of(text):
    case = make_cases([text])[0]
    return things(case.doc, case.language)


def found(text):
    return [(t.determiner, t.text) for t in things_of(text)]


def test_things_of_a_text(cases):
    for text, expected in cases:
        assert " | ".join(map(": ".join, found(text))) == expected


def test_only_the_head_of_a_sentence_loses_its_capital():
    assert found("Dogs sleep.")[0] == ("", "dogs")
    assert found("TWO CATS SLEEP") == [("two", "CATS")]
    assert found("Oslo sleeps.") == [("", "Oslo")]


def test_number_and_kind():
    first, second = things_of("Water flows to Oslo.")
    assert (first.bare, first.plural, first.named) == (True, False, False)
    assert (second.bare, second.plural, second.named) == (False, False, True)


WORDS = [
    "is", "n't", "not", "do", "Did", "he", "Anna", "like", "likes", "gone", "will", "who", "?", ",", ".", "never",
    "have", "'s", "to", "’d",
]  # fmt: skip
ODD = st.one_of(st.text(), st.lists(st.sampled_from([*WORDS, "\n", "\ud800", "犬", "  "]), max_size=14).map(" ".join))


def analyse(text):
    return language().analyse(text)


def described(text):
    doc = analyse(text)
    return [(c.kind, doc.tokens[c.verb].text, c.rank) for c in find_clauses(doc)]


def test_finite_verbs_are_told_by_what_they_need(cases):
    for text, expected in cases:
        assert " | ".join(f"{kind}: {verb}: {rank}" for kind, verb, rank in described(text)) == expected


def test_main_clauses_rank_before_others(cases):
    for text, main in cases:
        doc = analyse(text)
        first = min(find_clauses(doc), key=lambda c: (c.rank, c.verb))
        assert doc.tokens[first.verb].text == main
        assert first.rank == 0


@pytest.mark.parametrize(
    ("text", "subject", "verb"),
    [
        ("Is he asleep?", "he", None),
        ("Where did the old man go?", "man", "go"),
        ("What time does the last train leave?", "train", "leave"),
        ("Which song has Anna chosen?", "Anna", "chosen"),
        ("Won't you stay?", "you", "stay"),
        ("Had she known, she had come.", "she", "known"),
        # the subject stands before, or its end is not known
        ("Who is coming?", None, "coming"),
        ("What is the time?", None, None),
        ("He is asleep.", None, None),
    ],
)
def test_subjects_behind_the_verb_are_found(text, subject, verb):
    doc = analyse(text)
    clause = find_clauses(doc)[0]
    assert (clause.subject and doc.tokens[clause.subject].text) == subject
    assert (clause.main and doc.tokens[clause.main].text) == verb


@given(text=ODD)
def test_clauses_come_in_order_and_lie_inside_their_sentence(text):
    doc = analyse(text)
    end = -1
    for clause in find_clauses(doc):
        sentence = doc.sentences[clause.sentence]
        assert end < clause.begin <= clause.verb <= clause.last <= sentence.last
        assert sentence.first <= clause.begin
        places = [p for p in (clause.main, clause.negation, clause.subject) if p is not None]
        assert all(clause.begin <= p <= clause.last for p in places)
        assert all(clause.begin <= p <= sentence.last for p in clause.adverbs)
        end = clause.last
