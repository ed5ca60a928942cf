"""English words that have a capital in every position."""

from __future__ import annotations

from nlgauge.text.doc import Token
from nlgauge.text.tagging.brill import keeps_capital


def is_name_like(token: Token) -> bool:
    """Whether a token keeps its capital inside a sentence. Examples: a proper noun, `I`, an acronym, `German`."""
    text = token.text
    return token.tag in ("NNP", "NNPS") or text == "I" or (len(text) > 1 and text.isupper()) or keeps_capital(text)
