"""A rule-based tokeniser of English that keeps offsets and follows the English treebanks."""

from __future__ import annotations

import re

_CLITIC = r"['’](?:s|m|d|ll|re|ve)"
# Signs above, below and inside letters, which Python's \w leaves out; without them many scripts would fall to pieces.
_SIGNS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0971-\u0dff"
    r"\u0e31-\u0e4e\u0eb1-\u0ece\u0f71-\u0fbc\u102b-\u103e\u1056-\u109d\u17b4-\u17d3"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff"
)
_W = rf"[\w{_SIGNS}]"
# Short forms that keep their period: wherever they stand; before a capital or a number; before a number alone, being
# words as well.
_ALWAYS = "mr|mrs|ms|dr|prof|sr|jr|messrs|mme|mlle|etc|vs|viz|cf|inc|corp|ltd|llc|bros|dept|assn|approx|blvd|govt|attn"
_TITLES = (
    "st|mt|ft|rev|hon|gen|col|maj|capt|cpt|lt|sgt|cmdr|adm|gov|sen|sens|rep|reps|pres|supt|co|"
    "ave|jan|feb|aug|sept|oct|nov|dec"
)
_NUMBERED = (
    "no|nos|nr|vol|pp|p|fig|figs|eq|sec|ch|art|ext|tel|par|para|mar|apr|jun|jul|sep|mon|tue|"
    "tues|wed|thu|thur|thurs|fri|sat|sun"
)
_PREFIXES = (
    "e|non|mid|pre|anti|re|post|co|pro|multi|ex|semi|neo|psycho|socio|micro|inter|intra|ultra|quasi|pseudo|bi|un"
)
_UNITS = (
    "am|pm|k|m|mm|bn|tn|kg|g|mg|lb|lbs|oz|km|cm|mi|ft|in|ml|l|mb|gb|tb|kb|hz|khz|mhz|ghz|w|kw|"
    "mw|mph|kph|hrs|hr|min|sec|px"
)
_DOMAINS = "com|org|net|edu|gov|co|info|io|uk|de|fr|ca|au|eu"

# Repeats that could start anywhere are bounded, so that the work stays linear in the text.
_TOKEN = re.compile(
    rf"""
      (?:(?<!\w)(?:
          (?:(?:https?|ftp)://|www\.)[^\s<>"“”]*[^\s<>"“”.,;:!?'’)\]}}»]
        | [\w.+-]{{1,64}}@(?:[\w-]{{1,63}}\.){{1,8}}\w{{2,63}}
        | (?:[a-zA-Z0-9][a-zA-Z0-9-]{{0,62}}\.){{1,4}}(?i:{_DOMAINS})(?![\w@]|\.\w)
          (?:/[^\s<>"“”]*[^\s<>"“”.,;:!?'’)\]}}»])?
        | @\w+ | \#[^\W\d_]\w*
        | [:;=]-?[)(DP](?!\S)
      ))
    | (?<!\w)(?:
          (?:\+?\d-)?\d{{3}}-\d{{3}}-\d{{4}}(?!\w) | \d{{3}}-\d{{4}}(?!\w)
          | \d{{1,2}}-\d{{1,2}}-\d{{2,4}}(?!\w) | \d{{4}}-\d\d-\d\d(?!\w)
        | \.?\d++(?>(?:[.,:/]\d++){{0,20}})(?:(?:st|nd|rd|th|s|(?<=0)['’]s)?(?!{_W}) | (?=(?i:{_UNITS})(?!{_W})))
        | ['’]\d\ds?(?!{_W})
      )
    | (?<!\w)(?:
          (?:[^\W\d_]\.){{2,40}}(?:[^\W\d_](?!{_W}))?(?!{_W}) | [^\W\d_]\.[^\W\d_](?![\w.]) | [A-Z]\.(?=\s+[^\W\d_]|-)
        | (?i:{_ALWAYS})\. | (?i:ph\.d\.?)(?!\w) | (?i:al)(?<=\bet\sal)\.
        | (?i:{_TITLES})\.(?=\s*[A-Z0-9]) | (?i:{_NUMBERED})\.(?=\s*\d)
        | (?i:US|[CARS]|HK|NZ)\$ | (?i:{_PREFIXES})-\w+ | [A-Z]{{1,3}}&[A-Z]{{1,3}}(?!\w)
        | w/o?(?!\w) | (?i:o['’]clock|ma['’]am)(?!\w)
        | ['’](?i:em|cause|til|tis|twas|n)(?!\w)
      )
    | (?P<word>{_W}+(?>(?:['’]{_W}+)*))
    | (?i:{_CLITIC}(?![\w'’]) | (?<=\s)n['’]t(?!\w))
    | [.…]+ | -{{2,}} | —+ | –+ | [!?]+ | \*+ | =+ | \++ | ~+ | \#{{2,}} | <{{2,}} | >{{2,}} | \$+ | `` | ''
    | \S
    """,
    re.VERBOSE,
)
# What ends a word and is a word of its own; a second one may stand before it (should|n't|'ve).
_ENDING = re.compile(rf"(?i:(?<=\w)n['’]t|{_CLITIC})$")
# Two words in one, by the length of the first.
_FUSED = {"cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "gimme": 3, "lemme": 3, "dunno": 2, "'tis": 2, "'twas": 2}


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each token, in order and without overlap. Each character but blanks lies in exactly one token.

    Words are split as in the English treebanks. Clitics are separate tokens with either apostrophe (do|n't, he|'s,
    dogs|'), and "cannot" is split (can|not). Punctuation, currency signs, percent signs and hyphens are separate tokens
    (well|-|known), except for a hyphen after a prefix (e-mail, non-profit). These are not split: numbers with points,
    commas, colons or slashes inside (1,500, 10:30, 1/2), abbreviations and initials with their period (U.S., Mr., J.),
    addresses, ellipses and runs of marks (!!). Text that is already split (do n't) gives the same tokens.
    """
    spans = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup:
            token = match[0]
            cut = _FUSED.get(token.lower())
            if cut is not None:
                spans.append((start, start + cut))
                start += cut
            elif not token.isalpha():
                ends = []
                while ending := _ENDING.search(text, max(start, end - 3), end):
                    if ending.start() == start:
                        break
                    ends.append((ending.start(), end))
                    end = ending.start()
                spans.append((start, end))
                spans.extend(reversed(ends))
                continue
        spans.append((start, end))
    return spans
