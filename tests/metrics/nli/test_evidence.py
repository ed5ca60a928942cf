from nlgauge.core.spec import Signature
from nlgauge.metrics.nli.evidence import Claim, Evidence, Quote
from nlgauge.metrics.nli.grounds import Mention

SAID = Quote(0, 4, "One.")
FOUND = Evidence(
    0.5,
    (
        Claim(Quote(0, 6, "First."), 0.9, 0.05, SAID, ()),
        Claim(Quote(7, 14, "Second."), 0.3, 0.1, SAID, ()),
        Claim(Quote(15, 21, "Third."), 0.2, 0.7, SAID, ()),
        Claim(Quote(22, 30, "4 Fours."), 0.04, 0.7, SAID, (Mention(22, 23, "4", "number"),)),
    ),
    Signature("faithful", (("metric", "faithful"),)),
)


def test_what_is_unsupported_comes_worst_first():
    assert [claim.sentence.text for claim in FOUND.unsupported()] == ["4 Fours.", "Third.", "Second."]
    assert [claim.sentence.text for claim in FOUND.unsupported(0.1)] == ["4 Fours."]


def test_reasons_by_hand():
    assert [claim.reason for claim in FOUND.claims[1:]] == [
        "not said by the source",
        "contradicted by the source",
        "not in the source: 4",
    ]


def test_rows_and_lines():
    rows = FOUND.rows()
    assert [row["reason"] for row in rows] == [
        None,
        "not said by the source",
        "contradicted by the source",
        "not in the source: 4",
    ]
    assert rows[3] == {
        "start": 22,
        "end": 30,
        "sentence": "4 Fours.",
        "support": 0.04,
        "contradiction": 0.7,
        "evidence": "One.",
        "lacking": ["4"],
        "reason": "not in the source: 4",
    }
    assert str(FOUND).splitlines()[:5] == [
        "0.500",
        "0.90  First.",
        "      evidence: One.",
        "0.30  Second.",
        "      not said by the source",
    ]
