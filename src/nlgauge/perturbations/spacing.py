"""Blanks around an edit, as a writer would set them: none before a comma, and no two where a word goes."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.text.tokenize import writes_no_blanks

_CLOSING = frozenset(",.;:!?…)]}”’»%、。，．：；！？）】」』》〉،؛؟۔।॥")
_OPENING = frozenset("([{“‘„‚«¿¡（【「『《〈")


def around_insertion(left: str, right: str, new: Sequence[str], seen: str) -> tuple[str, str]:
    """The blanks before and behind tokens inserted between two others, where `seen` stood.

    At the start of the text `left` is empty.
    """
    together = bool(left) and not seen
    opens = together and is_mark(left) and left[-1] not in _CLOSING and not is_mark(right)
    head = seen if not left else "" if opens else between(left, new[0], seen)
    spaced = seen if writes_no_blanks(right[0]) else None
    return head, "" if together and is_mark(right) else between(new[-1], right, spaced)


def around_replacement(
    left: str, right: str, new: Sequence[str], old: Sequence[str], before: str, behind: str
) -> tuple[str, str]:
    """The blanks before and behind tokens that replace others.

    They stay as they are, unless a word replaces a mark or a mark a word.
    """
    head, tail = before, behind
    if left and is_mark(new[0]) != is_mark(old[0]):
        head = "" if not before and is_mark(left) and left[-1] not in _CLOSING else between(left, new[0], before)
    if right and is_mark(new[-1]) != is_mark(old[-1]):
        tail = "" if not behind and is_mark(right) else between(new[-1], right, behind)
    return head, tail


def behind_deletion(left: str, right: str, before: str, behind: str) -> str:
    """The blank that stays where tokens are deleted.

    `left` and `right` are the tokens that then stand beside it, empty at the ends of the text.
    """
    if not left:
        return before
    if not right:
        return behind
    if (not before and is_mark(left) and left[-1] not in _CLOSING) or (not behind and is_mark(right)):
        return ""
    if before and behind:
        return max(before, behind, key=lambda blank: "\n" in blank)  # a line that ended still does
    return before or behind or between(left, right, None)


def exchanged(left: str, right: str, old: Sequence[str], new: Sequence[str], blanks: Sequence[str]) -> list[str]:
    """The blanks around and between tokens in their new order.

    A blank stays where it stands between the same kinds of tokens as before, such as a word and a mark.

    Args:
        left, right: the tokens beside them, empty at the ends of the text.
        old, new: the tokens in both orders, length n.
        blanks: before, between and behind the old ones, length n + 1.
    """
    was, now = [left, *old, right], [left, *new, right]
    kept = []
    for i, blank in enumerate(blanks):
        alike = is_mark(was[i]) == is_mark(now[i]) and is_mark(was[i + 1]) == is_mark(now[i + 1])
        kept.append(blank if alike or not now[i] or not now[i + 1] else between(now[i], now[i + 1], blank))
    return kept


def between(left: str, right: str, seen: str | None) -> str:
    """The blank between two tokens that come together.

    `seen` is the blank that stood at the place, None if there was no place.
    """
    if right[0] in _CLOSING or left[-1] in _OPENING:
        return ""
    if writes_no_blanks(left[-1]) or writes_no_blanks(right[0]):
        return seen or ""
    return seen or " "


def is_mark(token: str) -> bool:
    """Whether a token has neither letters nor digits."""
    return not any(c.isalnum() for c in token)
