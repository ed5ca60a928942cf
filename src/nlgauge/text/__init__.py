"""Analysis of texts, with offsets: words, sentences, tags, numbers, names and word relations."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.text.doc import Doc, Span, Token
    from nlgauge.text.languages import Language
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["Doc", "Language", "Span", "Token"]
