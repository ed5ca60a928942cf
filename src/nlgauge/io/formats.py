"""The formats by name, and how the format of a file or folder is recognised when its name does not tell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile, entries
from nlgauge.io.wmt.da import PARTS
from nlgauge.io.wmt.mqm import is_header

# Read as segments, by `read` and `open_data`, which tell most of them apart themselves.
FORMATS: Mapping[str, str] = {
    "jsonl": (
        "JSON lines (.jsonl .ndjson .json, .gz), or one array of objects: one row per segment, with the names of our"
        " fields"
    ),
    "tsv": "TSV (.tsv, .gz): the same names as columns of a header",
    "parquet": "Parquet (.parquet): the same names as columns; needs the extra 'parquet'",
    "csv": (
        "CSV (.csv, .gz): our own names; COMET's src, mt, ref, score; rated outputs for meaning representations (BAGEL,"
        " SFHOT)"
    ),
    "summeval": "SummEval's model_annotations.aligned.jsonl, also paired or scored: expert and crowd ratings as lists",
    "mqm": "MQM annotations (.tsv, .gz): one marked error a row, scored with the standard weights",
    "wmt-da": "WMT15 and WMT16 direct assessment: a folder of SET.source.LP, .reference.LP, .mt-system.LP, .human.LP",
    "mtme": "mt-metrics-eval: the folder of one test set, with its human scores of segments",
}
# Read as tables of scores or as pairs, by the function named.
TABLES: Mapping[str, str] = {
    "scores": "read_scores: JSON lines, TSV, CSV or Parquet with id, or system and seg; sacrerouge's JSON lines",
    "wmt-scores": (
        "read_scores, read_submission: METRIC.seg.score and METRIC.sys.score (.gz) of WMT17 to WMT24; written and"
        " checked too"
    ),
    "mtme-scores": "read_scores: NAME-REF.LEVEL.score and LP.NAME.LEVEL.score of mt-metrics-eval; written too",
    "mtme-ratings": (
        "read_ratings: LP.NAME.seg.rating of mt-metrics-eval, marked errors scored with the standard weights"
    ),
    "wmt17-da": "read_da_scores: DA-seglevel.csv, LP DATA SYSTEM SID HUMAN",
    "mqm-averages": "read_mqm_averages: system mqm_avg_score seg_id",
    "summeval-scores": "read_summeval_scores: the metric scores of SummEval's scored version",
    "relative-ranks": "read_relative_ranks: RR-seglevel.csv and DArr-seglevel.csv, LP DATA SID BETTER WORSE",
    "pairs": "read_pairs: JSON lines with better_id and worse_id",
    "comet-ranking": "read_ranking: CSV with src, ref, pos, neg",
}


def format_of_folder(folder: str | os.PathLike[str]) -> str:
    """The format of a folder.

    Raises:
        InputError: the folder has no known format.
    """
    folder = Path(folder)
    inside = entries(folder)
    if os.path.isdir(folder / "sources"):
        return "mtme"
    if any(f".{part}." in path.name for path in inside for part in PARTS):
        return "wmt-da"
    raise InputError(
        f"{folder} is a folder, expected a file, or a folder with sources/ and system-outputs/ (mt-metrics-eval) "
        "or with SET.source.LP, SET.reference.LP, SET.mt-system.LP and SET.human.LP (WMT15, WMT16)"
    )


def format_within(file: InputFile, usual: str) -> str:
    """`usual`, unless the first line is that of another format of the same extension."""
    head = file.head(1 << 20).removeprefix(b"\xef\xbb\xbf")
    line = head.partition(b"\n")[0].decode("utf-8", errors="replace").rstrip("\r")
    if usual == "tsv":
        columns = line.split("\t")
        return "mqm" if "hyp" not in columns and is_header(columns) else usual
    if usual == "jsonl":
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return usual
        return "summeval" if type(row) is dict and "hyp" not in row and {"decoded", "model_id"} <= row.keys() else usual
    return usual
