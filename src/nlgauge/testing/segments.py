"""A few segments on which metrics tend to fail: blank, emoji, scripts without blanks, long, repeated, and so on."""

from __future__ import annotations

from nlgauge.core.segment import Segment


def _segment(
    name: str,
    hypothesis: str,
    *references: str,
    source: str = "Zu diesem Fall gibt es keinen Satz.",
    item: str | None = None,
) -> Segment:
    """A segment that has everything a metric may need."""
    turns = (
        {"speaker": "A", "text": "What is the news from the harbour?"},
        {"speaker": "B", "text": "Let me read it to you."},
    )
    records = (("ferry", "departs", "seven"), ("road", "closed by", "storm"))
    return Segment(
        name, hypothesis, references, source=source, system="own", item=item or name, context=turns, table=records
    )


def _log(first: int, wind: str) -> str:
    """Some 400 words and 550 word pieces: more than an encoder of 512 reads."""
    weather = ("calm sea", "a grey swell", "rain from the west", "fog at dawn", "whales to port")
    return " ".join(
        f"Day {n}: {weather[n % 5]}, {n * 37 % 101} miles, {wind} force {n * 7 % 11}." for n in range(first, first + 42)
    )


_FERRY = (
    "The ferry leaves the harbour at seven every morning.",
    "The ferry departs from the harbour at seven each morning.",
)
_FERRY_SOURCE = "Die Fähre legt jeden Morgen um sieben im Hafen ab."
_STORM = (
    "The mountain road is closed by a storm.",
    "A storm has blocked the mountain road.",
    "Because of a storm, nobody can take the road over the mountain.",
)
_STORM_SOURCE = "Ein Sturm hat die Bergstraße gesperrt."
_BOAT = "She did not sell the boat, she gave it away."
_RADIO = "Nobody answered the radio."

SEGMENTS: tuple[Segment, ...] = (
    _segment("plain", *_FERRY, source=_FERRY_SOURCE),
    _segment("three references", "A storm has closed the mountain road.", *_STORM, source=_STORM_SOURCE),
    _segment(
        "jumbled", "Road storm the has a mountain closed.", *_STORM, source=_STORM_SOURCE, item="three references"
    ),
    _segment("copy", _BOAT, _BOAT, source="Sie hat das Boot nicht verkauft, sondern verschenkt."),
    _segment("one word", "Yes", "No", source="Ja"),
    _segment("empty hypothesis", "", _RADIO, source="Niemand antwortete am Funk."),
    _segment("blank hypothesis", " \t ", _RADIO, source="Niemand antwortete am Funk."),
    _segment("empty reference", _RADIO, ""),
    _segment("both empty", "", ""),
    _segment("one of two references empty", "The lamp is on.", "", "The light is on.", source="Die Lampe brennt."),
    _segment("punctuation", "?!", "..."),
    _segment(
        "figures and markup",
        "Pi is about 3.14, or 22/7 &amp; a <b>bit</b> less.",
        "Pi is roughly 3.14 (22/7 &amp; a <b>little</b> less).",
    ),
    _segment("emoji", "Great trip 🚢☀️👍🏽", "Great trip! 🚢", source="Tolle Fahrt! 🚢"),
    _segment(
        "no blanks between words", "船は毎朝七時に港を出ます。", "フェリーは毎朝七時に出港する。", source=_FERRY_SOURCE
    ),
    _segment("marks that combine", "Le cafe\u0301 est nai\u0308f.", "Le café est naïf.", source="Das Café ist naiv."),
    _segment("odd line ends", "First line\u2028second line\rthird line", "First line second line third line"),
    _segment("long", _log(1, "wind"), _log(2, "gusts"), source=_log(1, "Wind")),
    _segment("plain again", *_FERRY, source=_FERRY_SOURCE, item="plain"),
)
