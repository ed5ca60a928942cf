import json
import os
from dataclasses import dataclass
from gzip import open as gunzip
from pathlib import Path

import pytest

from nlgauge.core.segment import Segment
from nlgauge.runtime.runtime import Runtime

_TEXTS = (
    ("The ferry leaves at 7.30, doesn't it?", ("The ferry departs at 7.30, doesn't it?",)),
    (
        "The U.S. prices (about $1,000.50) rose!",
        ("Prices in the U.S. rose to about $1,000.50.", "U.S. prices rose; about $1,000.50!", "They rose."),
    ),
    ("on the mat sat the old cat", ("the old cat sat on the mat", "on the mat, the old cat sat")),
    ("", ("Nobody answered the radio.",)),
    ("", ("",)),
    ("Somebody answered.", ("",)),
    ("one of two is empty", ("", "one of two is full")),
    (" \t ", ("blank hypothesis", "   ")),
    ("the the the the the the the", ("the cat is on the mat", "there is a cat on the mat")),
    ("Yes", ("No",)),
    ("Yes", ("Yes",)),
    ("a b", ("a b",)),
    ("?!", ("...",)),
    ("  leading and trailing \n", ("leading and trailing",)),
    ("It &quot;rains&quot; &amp; &lt;pours&gt;.", ('It "rains" & <pours>.',)),
    ("Great trip 🚢☀️👍🏽", ("Great trip! 🚢", "🚢🚢🚢")),
    ("船は毎朝七時に港を出ます。", ("フェリーは毎朝七時に出港する。", "船は、毎朝七時に港を出ます。")),
    ("渡轮每天早上七点离港，票价20元。", ("渡轮每天早上7点离开港口。", "船七点走，20元。")),
    ("배는 매일 아침 7시에 떠난다", ("배는 매일 아침 일곱 시에 떠난다",)),
    ("STRASSE Über İstanbul", ("straße über istanbul",)),
    ("cafe\u0301 naïve", ("café nai\u0308ve",)),
    ("soft\u00adhyphen zero\u200bwidth no\u00a0break", ("softhyphen zero width no break",)),
    ("line one\u2028line two\rline three\x1fend", ("line one line two line three end",)),
    ("word " * 120 + "end .", ("word " * 90 + "start .", "a word")),
    (" ".join(f"w{i % 37}" for i in range(150)), (" ".join(f"w{i % 31}" for i in range(140)),)),
    ("The ferry leaves at 7.30, doesn't it?", ("The ferry departs at 7.30, doesn't it?",)),
)


@dataclass(frozen=True)
class Corpus:
    """Segments with what sacrebleu wants of them: streams of references, None where a segment has fewer."""

    segments: tuple[Segment, ...]

    @property
    def hypotheses(self):
        return [s.hypothesis for s in self.segments]

    @property
    def streams(self):
        most = max(len(s.references) for s in self.segments)
        return [[s.references[i] if i < len(s.references) else None for s in self.segments] for i in range(most)]


@pytest.fixture(scope="session")
def runtime():
    return Runtime()


@pytest.fixture(scope="session")
def corpus():
    """Odd texts with unequal numbers of references: empty, blank, markup, emoji, without blanks, long, repeated."""
    return Corpus(tuple(Segment(str(i), hypothesis, references) for i, (hypothesis, references) in enumerate(_TEXTS)))


@pytest.fixture(scope="session")
def translations():
    """Judged translations into English and Russian of WMT 2016, where the evaluation data are."""
    folder = os.environ.get("NLGAUGE_DATA")
    path = Path(folder or "absent") / "wmt16-da-seg" / "segments.jsonl.gz"
    if not path.exists():
        pytest.skip("no evaluation data: NLGAUGE_DATA does not name their folder")
    with gunzip(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    wanted = rows[:: max(1, len(rows) // 400)]
    return Corpus(
        tuple(
            Segment(str(i), row["hyp"], tuple(row["refs"]) if "refs" in row else (row["ref"],))
            for i, row in enumerate(wanted)
        )
    )
