"""What `verbs.py` lets the command read: the examples, and small files by rule, the same everywhere."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TEXTS = (
    "The harbour master closed the north gate at seven because the tide was too high.",
    "Martha Ellis lived in London for eleven years before she moved to Leeds.",
    "Where did the old ferry stop in 1987?",
    "It does not rain often in the valley, but the river is never dry.",
    "Two girls with red umbrellas wait beside a long yellow bus.",
    "The committee approved 25% of the budget, about 19,000 pounds, on Tuesday.",
    "He can't find his keys, and she won't lend him hers.",
    "A man rides a brown horse along the beach.",
    "The soup was hot, the bread was fresh, and nobody complained.",
    "Although the bridge was repaired in March, heavy lorries are still not allowed to cross it.",
    "They have painted the door of the chapel green.",
    "Who wrote the letter that Peter found under the floor?",
    "The museum opens daily at nine and closes at half past five.",
    "Three small boats lie in the harbour of Bristol.",
    "I would love to come, but I have to work until eight.",
    "The new engine is quieter and uses less fuel than the old one.",
    "Rain.",
    "",
    "Die Katze schläft auf dem warmen Ofen.",
    "She said that her brother had always been happy in the large house.",
    "How many coaches does the train have?",
    "The train has 8 coaches; the first two are reserved for children.",
    "The doctor was sure that the illness was harmless and told the family so.",
    "Our neighbours bought twelve eggs, two loaves and a bottle of milk.",
    "Is the library in the centre of the town open on Sundays?",
    "The quick decision surprised everyone, especially the mayor.",
    "A dog with a blue ball sleeps on a wooden bench in front of a tree.",
    "The temperature fell to -3 degrees on 14 January 2009.",
    "Children must not swim here; the current is dangerous.",
    "The Eagle is a cheap Italian restaurant near the river with a rating of 3 out of 5.",
    "He opened the window, looked outside and quickly closed it again.",
    "Most farmers agree that the summer was too wet.",
    "The shop was shut. We walked home along the canal. Later it began to snow.",
)
OTHERS = (  # the same said otherwise, for some of TEXTS by place
    "At seven the north gate was shut by the harbour master, as the tide had risen too far.",
    "Before moving to Leeds, Martha Ellis spent eleven years in London.",
    "In 1987, what was the stop of the old ferry?",
    "Rain is rare in the valley, yet the river always has water.",
    "Beside a long yellow bus two girls are waiting with red umbrellas.",
    "On Tuesday a quarter of the budget, some 19,000 pounds, was approved by the committee.",
    "His keys are lost, and she refuses to lend him hers.",
    "Along the beach a man is riding a brown horse.",
    "Nobody complained: the bread was fresh and the soup was hot.",
    "Heavy lorries may still not cross the bridge, although it was repaired in March.",
)
TALK = (
    {"speaker": "A", "text": "Have you been to the market today?"},
    {"speaker": "B", "text": "Yes, I bought apples and a blue scarf."},
    {"speaker": "A", "text": "I like the market, but the bus is always late."},
    {"speaker": "B", "text": "Take the tram, it stops at the same square."},
)


def write_inputs(folder: Path) -> None:
    """All that the commands read: the examples, and small files by rule."""
    folder.mkdir(parents=True)
    for path in sorted(path for path in EXAMPLES.iterdir() if path.is_file()):
        shutil.copyfile(path, folder / path.name)
    (folder / "cold.txt").write_text("\n".join(TEXTS[:10]) + "\n", encoding="utf-8")
    write_lines(folder / "refs1.txt", TEXTS[:10])
    write_lines(folder / "refs2.txt", OTHERS)
    write_lines(folder / "srcs.txt", [f"Quelle {i}: {text}" for i, text in enumerate(OTHERS)])
    for name, worsen in WRITERS.items():
        write_lines(folder / f"hyp_{name}.txt", [worsen(text, i) for i, text in enumerate(TEXTS[:10])])
    write_lines(folder / "hyp_odd.txt", [*TEXTS[1:4], "", "Two girls wait .", *OTHERS[5:]])
    (folder / "hyp_crlf.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(OTHERS).encode())
    packed = gzip.compress("\n".join(TEXTS[:10]).encode(), mtime=0)
    (folder / "hyp_packed.txt.gz").write_bytes(packed)
    write_lines(folder / "sentences.txt", [*TEXTS, *OTHERS])
    write_lines(folder / "long.txt", [" ".join(TEXTS * 12)])
    rated = list(rated_rows())
    _rows(folder / "rated.jsonl", rated)
    _table(folder / "rated.tsv", [{**flat(row), "refs": json.dumps(row["refs"])} for row in rated])
    _table(folder / "rated.csv", [{**flat(row), "ref": row["refs"][0]} for row in rated], ",")
    _rows(folder / "unrated.jsonl", [{key: value for key, value in row.items() if key != "human"} for row in rated])
    _rows(folder / "oneref.jsonl", [{**row, "refs": row["refs"][:1]} for row in rated])
    sides = {"drops": "correct", "swaps": "incorrect"}
    _rows(
        folder / "sides.jsonl", [{**r, "id": None, "system": sides[r["system"]]} for r in rated if r["system"] in sides]
    )
    _rows(folder / "labels.jsonl", [{**row, "human": {"same": float(row["human"]["adequacy"] > 60)}} for row in rated])
    theirs = [
        {
            "system": r["system"],
            "seg": r["seg"],
            "lp": r["lp"],
            "comet": f"{wave(i, 3) + r['human']['adequacy'] / 90:.4f}",
            "errors": f"{5 - r['human']['adequacy'] / 25 + 2 * wave(i, 7):.2f}",
        }
        for i, r in enumerate(rated)
    ]
    _table(folder / "theirs.tsv", theirs)
    _table(
        folder / "gaps.tsv", [{**row, "comet": "nan" if i % 11 == 4 else row["comet"]} for i, row in enumerate(theirs)]
    )
    _table(
        folder / "ratings.tsv",
        [{"id": row["id"], "style": f"{50 + 40 * wave(i, 5):.1f}"} for i, row in enumerate(rated)],
    )
    _rows(
        folder / "sacrerouge.jsonl",
        [
            {"instance_id": r["seg"], "summarizer_id": r["system"], "metrics": {"m": {"r": wave(i, 4), "p": 1.0}}}
            for i, r in enumerate(rated)
            if r["lp"] == "cs-en"
        ],
    )
    _rows(folder / "choices.jsonl", [{"better_id": f"drops-{i}", "worse_id": f"swaps-{i}"} for i in range(10)])
    ranks = ["LP DATA SID BETTER WORSE", *(f"{'cs-en' if i < 5 else 'de-en'} set {i} copies shouts" for i in range(10))]
    write_lines(folder / "RR-seglevel.csv", ranks)
    _suites(folder)
    _trained(folder)
    _shared_tasks(folder, rated)


def drops(text: str, place: int) -> str:
    """Every fourth word is left out."""
    return " ".join(word for i, word in enumerate(text.split()) if i % 4 != 1 + place % 3)


def swaps(text: str, place: int) -> str:
    """Neighbours in the middle trade places, and a word is another."""
    words = text.split()
    if len(words) > 3:
        words[1], words[2] = words[2], words[1]
        words[-2] = "lantern"
    return " ".join(words)


def copies(text: str, place: int) -> str:
    """The text, or the same said otherwise."""
    return OTHERS[place] if place % 2 else text


def shouts(text: str, place: int) -> str:
    """Half of it in capitals, and the rest is lost."""
    words = text.split()
    return " ".join(words[: 1 + len(words) // 2]).upper()


WRITERS: Mapping[str, Callable[[str, int], str]] = {"drops": drops, "swaps": swaps, "copies": copies, "shouts": shouts}


def wave(place: int, step: int) -> float:
    """A number from 0 to 1 that jumps about: the same everywhere, without a generator."""
    return (place * 7919 * step + 104729) % 1009 / 1009


def rated_rows() -> Iterator[dict[str, Any]]:
    """Four writers on ten items of two language pairs, with ratings that like copies best."""
    liking = {"drops": 45, "swaps": 25, "copies": 75, "shouts": 5}
    place = 0
    for system, worsen in WRITERS.items():
        for i, text in enumerate(TEXTS[:10]):
            place += 1
            yield {
                "id": f"{system}-{i}",
                "system": system,
                "seg": str(i),
                "lp": "cs-en" if i < 5 else "de-en",
                "src": f"Quelle {i}: {OTHERS[i]}",
                "refs": [text, OTHERS[(i + 1) % 10] if i == 3 else OTHERS[i]],
                "hyp": worsen(text, i),
                "human": {
                    "adequacy": round(liking[system] + 25 * wave(place, 1), 1),
                    "fluency": float(round(1 + 4 * wave(place, 2))),
                },
            }


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table: ratings as columns, without references."""
    plain_ = {key: value for key, value in row.items() if key not in ("refs", "human")}
    return plain_ | {f"human.{name}": value for name, value in row["human"].items()}


def _suites(folder: Path) -> None:
    pairs = [
        {
            "id": f"p{i}",
            "phenomenon": ("negation", "typos", "word order", "same")[i % 4],
            "better": OTHERS[i],
            "worse": swaps(text, i) if i % 4 != 3 else text,
            "refs": [text],
            "src": f"Quelle {i}: {OTHERS[i]}",
            "lp": "cs-en" if i < 5 else "de-en",
            "expect": "same" if i % 4 == 3 else "lower",
        }
        for i, text in enumerate(TEXTS[:10])
    ]
    _rows(folder / "pairs.jsonl", pairs)
    _table(folder / "pairs.tsv", [{"better": p["better"], "worse": p["worse"], "ref": p["refs"][0]} for p in pairs[:4]])
    adversarial = [
        {
            "id": i,
            "error": ("add", "num", "typo")[i % 3],
            "ref": text,
            "src": f"Quelle {i}: {text}",
            "cand_para": OTHERS[i],
            "cand_adv_ref": swaps(text, i),
            "cand_adv_src": drops(text, i),
        }
        for i, text in enumerate(TEXTS[:6])
    ]
    _rows(folder / "adversarial.jsonl", adversarial)
    _table(
        folder / "menli.csv",
        [
            {
                "id": a["id"],
                "error": a["error"],
                "source": a["src"],
                "ref": a["ref"],
                "r": a["ref"],
                "hyp_para": a["cand_para"],
                "hyp_adv_based": a["cand_adv_ref"],
                "hyp_adv_free": a["cand_adv_src"],
            }
            for a in adversarial
        ],
        ",",
    )
    _table(
        folder / "aces.tsv",
        [
            {
                "source": a["src"],
                "good-translation": a["cand_para"],
                "incorrect-translation": a["cand_adv_ref"],
                "reference": a["ref"],
                "phenomena": ("addition", "untranslated")[i % 2],
                "langpair": "de-en",
            }
            for i, a in enumerate(adversarial)
        ],
    )
    demetr = [
        {
            "id": i,
            "src_sent": a["src"],
            "eng_sent": a["ref"],
            "mt_sent": a["cand_para"],
            "pert_sent": a["cand_adv_ref"],
            "pert_name": ("critical_negation", "minor_spelling")[i % 2],
            "lang_tag": "german",
        }
        for i, a in enumerate(adversarial)
    ]
    (folder / "demetr.json").write_text(json.dumps(demetr, indent=1) + "\n", encoding="utf-8")
    paws = [
        {"id": f"{i}{label}", "sentence1": text, "sentence2": OTHERS[i] if label else swaps(text, i), "label": label}
        for i, text in enumerate(TEXTS[:6])
        for label in (1, 0)
    ]
    _table(folder / "paws.tsv", paws)
    rank = [
        {"article_sent": text, "correct_sent": OTHERS[i], "incorrect_sent": swaps(text, i)}
        for i, text in enumerate(TEXTS[:6])
    ]
    (folder / "rank19.json").write_text(json.dumps(rank, indent=1) + "\n", encoding="utf-8")
    _table(
        folder / "paraphrases.tsv",
        [{"text": text, "paraphrase": other} for text, other in zip(TEXTS, OTHERS, strict=False)],
    )
    _table(
        folder / "penalties.tsv",
        [
            {"template": name, "penalty": value}
            for name, value in (("negation", 0.8), ("typos", 0.2), ("jumble_words", 0.6))
        ],
    )


def _trained(folder: Path) -> None:
    labels = ("entailment", "contradiction", "neutral")
    told = [
        (text, (OTHERS[i], swaps(text, i), TEXTS[i + 12])[k], labels[k])
        for i, text in enumerate(TEXTS[:8])
        for k in range(3)
    ]
    _rows(folder / "nli.jsonl", [{"premise": one, "hypothesis": other, "label": label} for one, other, label in told])
    _rows(
        folder / "nli_dev.jsonl",
        [{"premise": other, "hypothesis": one, "label": label} for one, other, label in told[::2]],
    )
    minor = [
        {"text": text, "changed": OTHERS[i] if i % 2 else swaps(text, i), "minor": bool(i % 2)}
        for i, text in enumerate(TEXTS[:10])
    ]
    minor_pairs = [{"better": text, "worse": drops(text, i), "expect": "lower"} for i, text in enumerate(TEXTS[19:24])]
    _rows(folder / "minor.jsonl", [*minor, *minor_pairs])
    triples = [
        {"id": f"{i}-{name}", "hyp": worsen(text, i), "refs": [text], "score": -float(k + round(3 * wave(i + k, 2)))}
        for i, text in enumerate(t for t in TEXTS[:10] if t)
        for k, (name, worsen) in enumerate(WRITERS.items())
    ]
    _rows(folder / "triples.jsonl", triples)


def _shared_tasks(folder: Path, rated: Sequence[Mapping[str, Any]]) -> None:
    header = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
    marks = (
        ("Accuracy/Omission", "Major"),
        ("No-error", "No-error"),
        ("Fluency/Punctuation", "Minor"),
        ("Style/Awkward", "Minor"),
    )
    mqm = [
        dict(
            zip(
                header,
                (r["system"], "d", i % 2, int(r["seg"]) + 1, f"rater{k}", r["src"], r["hyp"], *marks[(i + k) % 4]),
                strict=True,
            )
        )
        for i, r in enumerate(rated)
        for k in range(2)
    ]
    _table(folder / "mqm.tsv", mqm)
    criteria = ("coherence", "consistency", "fluency", "relevance")
    summeval = [
        {
            "id": f"d{r['seg']}",
            "model_id": r["system"],
            "decoded": r["hyp"],
            "references": r["refs"],
            "text": r["src"],
            "expert_annotations": [
                {c: 1 + round(4 * wave(i + k, n + 1)) for n, c in enumerate(criteria)} for k in range(3)
            ],
            "turker_annotations": [
                {c: 1 + round(4 * wave(i + k, n + 9)) for n, c in enumerate(criteria)} for k in range(5)
            ],
        }
        for i, r in enumerate(rated)
    ]
    _rows(folder / "summeval.jsonl", summeval)
    da = folder / "wmt-da"
    da.mkdir()
    for lp in ("cs-en", "de-en"):
        rows = [r for r in rated if r["lp"] == lp]
        write_lines(da / f"newstest2015.source.{lp}", [r["src"] for r in rows])
        write_lines(da / f"newstest2015.reference.{lp}", [r["refs"][0] for r in rows])
        write_lines(da / f"newstest2015.mt-system.{lp}", [r["hyp"] for r in rows])
        write_lines(da / f"newstest2015.human.{lp}", [f"{(r['human']['adequacy'] - 50) / 25:.4f}" for r in rows])
    mtme, lp = folder / "mtme", "cs-en"
    for part in ("sources", "documents", "references", "human-scores", f"system-outputs/{lp}", f"metric-scores/{lp}"):
        (mtme / part).mkdir(parents=True)
    write_lines(mtme / "sources" / f"{lp}.txt", [f"Quelle {i}" for i in range(5)])
    write_lines(mtme / "documents" / f"{lp}.docs", [f"news doc{i // 3}" for i in range(5)])
    write_lines(mtme / "references" / f"{lp}.refA.txt", TEXTS[:5])
    rows = [r for r in rated if r["lp"] == lp]
    for system in WRITERS:
        write_lines(mtme / "system-outputs" / lp / f"{system}.txt", [r["hyp"] for r in rows if r["system"] == system])
    write_lines(
        mtme / "human-scores" / f"{lp}.da.seg.score", [f"{r['system']}\t{r['human']['adequacy']}" for r in rows]
    )
    write_lines(
        mtme / "metric-scores" / lp / "theirs-refA.seg.score",
        [f"{r['system']}\t{wave(i, 6):.4f}" for i, r in enumerate(rows)],
    )
    (mtme / "meta.json").write_text(
        json.dumps({lp: {"std_ref": "refA", "std_gold": {"seg": "da"}, "outlier_systems": [], "primary_metrics": []}})
        + "\n",
        encoding="utf-8",
    )
    write_lines(
        folder / "theirs.seg.score",
        [
            "\t".join(("theirs", r["lp"], "set", "refA", r["system"], str(1 + int(r["seg"]) % 5), f"{wave(i, 6):.4f}"))
            for i, r in enumerate(rated)
        ],
    )


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    write_lines(path, [json.dumps(row, ensure_ascii=False) for row in rows])


def _table(path: Path, rows: Sequence[Mapping[str, Any]], between: str = "\t") -> None:
    def cell(value: Any) -> str:
        return f'"{value}"' if between == "," and "," in str(value) else str(value)

    write_lines(path, [between.join(map(cell, line)) for line in (rows[0].keys(), *(row.values() for row in rows))])
