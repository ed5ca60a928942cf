import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from nlgauge.core.segment import Segment
from nlgauge.runtime.runtime import Runtime

# Thirty-two odd pairs and as many ordinary ones, with one to three references each
_ODD = (
    ("", ("Nobody answered the radio.",)),
    ("", ("",)),
    ("Somebody answered.", ("",)),
    ("one of two is empty", ("", "one of two is full")),
    (" \t ", ("blank hypothesis", "   ")),
    ("the the the the the the the", ("the cat is on the mat", "there is a cat on the mat")),
    ("the cat is on the mat", ("the the the the",)),
    ("a a a", ("a a a",)),
    ("b b b a", ("b b b",)),
    ("Yes", ("No",)),
    ("Yes", ("Yes",)),
    ("yes", ("YES",)),
    ("a b", ("a b",)),
    ("b a", ("a b",)),
    ("?!", ("...",)),
    ("...", ("...",)),
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
    (" ".join(f"u{i}" for i in range(60)), (" ".join(f"u{59 - i}" for i in range(60)),)),
    ("x" * 500, ("x" * 500, "y")),
    ("a , b , c , d , e", ("e , d , c , b , a",)),
    ("Ω ≈ 3.14 – “quoted” …", ("Ω is about 3.14 - 'quoted' ...",)),
)
_PLAIN = (
    ("The ferry leaves at 7.30, doesn't it?", ("The ferry departs at 7.30, doesn't it?",)),
    ("The U.S. prices (about $1,000.50) rose!", ("Prices in the U.S. rose to about $1,000.50.", "They rose.")),
    ("on the mat sat the old cat", ("the old cat sat on the mat", "on the mat, the old cat sat")),
    ("The children were happily running home.", ("A child runs home happily.",)),
    ("A car was bought by the physician.", ("The doctor purchased an automobile.", "The doctor bought a car.")),
    ("Dogs chase cats", ("dog chases cat",)),
    ("He quickly closed the big door.", ("He shut the large door fast.",)),
    ("Stories about geese and mice", ("A story of a goose and a mouse",)),
    ("Prices fell sharply on Monday .", ("On Monday , prices dropped sharply .",)),
    ("He said that he would not come.", ("He told us he wouldn't be coming.", "He said he would not come.")),
    ("The boy read the book", ("the book was read by the boy",)),
    ("Bob hit John yesterday", ("John hit Bob yesterday",)),
    ("Storms closed the road", ("A storm has closed the mountain road", "The road is closed by storms")),
    ("It is a guide to action which ensures that it obeys", ("It is a guide to action that ensures that it heeds",)),
    ("he was interested in world history because he read the book", ("he read the book because he was interested",)),
    ("two men and two dogs walk along two roads", ("two dogs and two men walk on two roads",)),
    ("What is the capital of France?", ("Which city is the capital of France?",)),
    ("a man riding a horse on a beach", ("a man rides a brown horse", "a person on a horse at the beach", "horse")),
    ("The committee has approved the new budget.", ("The new budget has been approved by the committee.",)),
    ("Bergs of ice drift south in spring.", ("In spring icebergs drift to the south.",)),
    ("The lamp is on.", ("The light is on.",)),
    ("She did not sell the boat, she gave it away.", ("She did not sell the boat, she gave it away.",)),
    ("Rain in the north, sun in the south.", ("Sun in the south, rain in the north.",)),
    ("Der Hund schläft auf dem Sofa.", ("Auf dem Sofa schläft der Hund.",)),
    ("Le chien dort sur le canapé.", ("Le chien dort dans le salon.",)),
    ("Старая собака спит на диване.", ("На диване спит старая собака.",)),
    ("They had been working since 1990 and 1991.", ("They worked since 1990 and again since 1991.",)),
    ("better best worse worst", ("good good bad bad",)),
    ("The news is good, the news is bad.", ("The news is bad, the news is good.",)),
    ("saw saws sawed sawing", ("see sees seen seeing",)),
    ("The ferry leaves at 7.30, doesn't it?", ("The ferry departs at 7.30, doesn't it?",)),
    ("an old friend of mine came", ("an old friend of mine came to see me", "my friend came", "nobody came")),
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
    rows = (*_PLAIN[:3], _PLAIN[-1], *_ODD[:-4], _PLAIN[0])  # a long text turned round keeps TER busy for seconds
    return Corpus(tuple(Segment(str(i), hypothesis, references) for i, (hypothesis, references) in enumerate(rows)))


@pytest.fixture(scope="session")
def pairs():
    """Odd pairs first, then ordinary ones."""
    listed = (*_ODD, *_PLAIN)
    assert len(listed) == 64
    return [Segment(str(i), hypothesis, references) for i, (hypothesis, references) in enumerate(listed)]


@pytest.fixture(scope="session")
def tokens():
    """A function that gives the words of a metric for hypotheses and for references, as other packages take them."""

    def split(metric, segments):
        words = metric.splitter()
        hypotheses = [list(words(s.hypothesis)) for s in segments]
        return hypotheses, [[list(words(r)) for r in s.references] for s in segments]

    return split


@pytest.fixture(scope="session")
def real():
    """2,000 translations with two references, the second made for another sentence, and the source of that one."""
    path = Path(os.environ.get("NLGAUGE_DATA", "")) / "wmt15-da-seg" / "segments.jsonl.gz"
    if not path.is_file():
        pytest.skip("needs the sets that NLGAUGE_DATA points to")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    following = [*rows[1:], rows[0]]
    return [
        Segment(row["id"], row["hyp"], (row["refs"][0], other["refs"][0]), source=other["hyp"], system=row["lp"])
        for row, other in zip(rows, following, strict=True)
    ]
