import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.english.clauses import find_clauses
from nlgauge.text.languages import language

WORDS = [
    "is",
    "n't",
    "not",
    "do",
    "Did",
    "he",
    "Anna",
    "like",
    "likes",
    "gone",
    "will",
    "who",
    "?",
    ",",
    ".",
    "never",
    "have",
    "'s",
    "to",
    "’d",
]
ODD = st.one_of(st.text(), st.lists(st.sampled_from([*WORDS, "\n", "\ud800", "犬", "  "]), max_size=14).map(" ".join))


def analyse(text):
    return language().analyse(text)


def described(text):
    doc = analyse(text)
    return [(c.kind, doc.tokens[c.verb].text, c.rank) for c in find_clauses(doc)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She plays chess.", [("plain", "plays", 0)]),
        ("She is playing chess.", [("be", "is", 0)]),
        ("She has played chess.", [("have", "has", 0)]),
        ("She has a chess board.", [("plain", "has", 0)]),
        ("She has to play.", [("plain", "has", 0)]),
        ("She did her homework.", [("plain", "did", 0)]),
        ("She did not play.", [("do", "did", 0)]),
        ("She'd rather play.", [("modal", "'d", 0)]),
        ("She'd played before.", [("have", "'d", 0)]),
        ("It's been cold.", [("have", "'s", 0)]),
        ("Wait for Anna.", [("imperative", "Wait", 0)]),
        ("Please do not wait.", [("do", "do", 0)]),
        ("You need not wait.", [("modal", "need", 0)]),
        # names, and nouns that look like verbs
        ("Catch the Wind is a song.", [("imperative", "Catch", 2), ("be", "is", 0)]),
        ("a small bathroom sink beside a window", []),
        ("several street signs next to a tree", []),
        ("a bathroom with two sinks near a window", []),
        ("a snow covered field", []),
        ("a car parked beside a wall", []),
        ("a garbage can on the pavement", []),
        # no finite verb: captions, greetings, possessives, infinitives
        ("a girl riding a pony", []),
        ("Anna's new coat", []),
        ("Thank you so much.", []),
        ("how to bake bread", []),
    ],
)
def test_finite_verbs_are_told_by_what_they_need(text, expected):
    assert described(text) == expected


@pytest.mark.parametrize(
    ("text", "main"),
    [
        ("When the rain stopped, the children went out.", "went"),
        ("The neighbour who feeds our cat is away.", "is"),
        ("What she wrote was true.", "was"),
        ("Although it was late, they stayed.", "stayed"),
        ("Although tired, they stayed.", "stayed"),
        ("The house he painted looks new.", "looks"),
        ("They hope that it works.", "hope"),
        ("It works if you try.", "works"),
        ("“We are late,” said Anna.", "are"),
        ("They left early, didn't they?", "left"),
        ("Which bus goes to the harbour?", "goes"),
    ],
)
def test_main_clauses_rank_before_others(text, main):
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
