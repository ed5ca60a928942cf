"""The folder of a small test set in the layout of mt-metrics-eval."""

import json

import pytest

FILES = {
    "sources/cs-uk.txt": "eins\nzwei\ndrei\n",
    "documents/cs-uk.docs": "news d1\nnews\td1\r\ntalk d2\n",
    "references/cs-uk.refA.txt": "one\ntwo\nthree\n",
    "references/cs-uk.refB.txt": "1\n[No translation supplied]\n3\n",
    "system-outputs/cs-uk/A.txt": "a1\na2\na3\n",
    "system-outputs/cs-uk/B.1.txt": "b1\n[No translation supplied] \nb3\n",
    "system-outputs/cs-uk/refB.txt": "1\n[No translation supplied]\n3\n",
    "system-outputs/cs-uk/refA.txt": "one\ntwo\nthree\n",
    "human-scores/cs-uk.mqm.v2.seg.score": "A\t-1\nA -2.5\nA\tNone\nB.1 0\nB.1 nan\nB.1\t\n",
    "human-scores/cs-uk.mqm.v2.sys.score": "A -1.75\nB.1 0\n",
    "human-scores/cs-uk.mqm.v2.domain.score": "talk A 3\nnews A 1\n",
    "metric-scores/cs-uk/X-Y-refA.seg.score": "".join(
        f"{s} {v}\n" for s, vs in {"A": (1, 2, 3), "B.1": (4, 5, 6), "refB": (7, 8, 9)}.items() for v in vs
    ),
    "metric-scores/cs-uk/X-Y-refA.sys.score": "A 2\nB.1 5\nrefB 8\n",
    "metric-scores/cs-uk/QE-src.seg.score": "".join(f"{s} {v}\n" for s in ("A", "B.1") for v in (1, "None", 3)),
    "metric-scores/cs-uk/Z-refA.refB.sys.score": "A 1\nB.1 2\n",
}
META = {
    "cs-uk": {
        "std_ref": "refA",
        "std_gold": {"seg": "mqm.v2", "sys": "mqm.v2"},
        "outlier_systems": ["B.1"],
        "primary_metrics": ["X-Y"],
    }
}


@pytest.fixture
def folder(put):
    def make(changes=(), meta=META):
        for name, content in {**FILES, **dict(changes)}.items():
            if content is not None:
                put(f"set1/{name}", content)
        if meta is not None:
            put("set1/meta.json", json.dumps(meta))
        return "set1"

    return make
