"""Short and full forms of auxiliaries with "not", and which of the two a text prefers."""

from __future__ import annotations

from nlgauge.text.doc import Doc

# Auxiliaries that take n't, with the whole they make.
WITH_NOT = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "do": "don't", "does": "doesn't",
    "did": "didn't", "have": "haven't", "has": "hasn't", "had": "hadn't", "can": "can't", "could": "couldn't",
    "will": "won't", "would": "wouldn't", "should": "shouldn't", "must": "mustn't", "need": "needn't",
    "shall": "shan't",
}  # fmt: skip
STEMS = {"wo": "will", "ca": "can", "sha": "shall"}  # what the tokeniser leaves of won't, can't and shan't
_CLITICS = frozenset({"n't", "'re", "'ve", "'ll", "'m", "'d"})


def contracts(doc: Doc) -> bool:
    """Whether a text has short forms of its own."""
    return any(t.lower in _CLITICS or (t.lower == "'s" and t.tag in ("VBZ", "PRP")) for t in doc.tokens)


def apostrophe(text: str) -> str:
    """The apostrophe that a text writes: ’ where it has more of these than of the plain one."""
    return "’" if text.count("’") > text.count("'") else "'"


def is_loud(text: str) -> bool:
    """Whether a text is in capitals throughout, more than one letter of it."""
    letters = [c for c in text if c.isalpha()]
    return len(letters) > 3 and all(c.isupper() for c in letters)


def be_for(subject: str, tag: str) -> str:
    """The present form of "be" that agrees with a subject, given the last word of the subject and its tag."""
    low = subject.lower()
    if low == "i":
        return "am"
    return "are" if low in ("we", "you", "they", "these", "those", "who") or tag in ("NNS", "NNPS") else "is"
