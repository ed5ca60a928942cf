"""Pages name files, not folders; files with one name stay apart."""

import pytest

from nlgauge.core.result import Result
from nlgauge.report.paths import bare, without_folders


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('scores:file="/home/me/theirs.tsv",column=ter', 'scores:file="theirs.tsv",column=ter'),
        ("metric:bertscore|model:/a/b/bert|layer:4", "metric:bertscore|model:bert|layer:4"),
        ("read /home/a.b/c.txt.", "read c.txt."),
        ("~/x/y.tsv and C:\\Users\\me\\z.tsv", "y.tsv and z.tsv"),
        ("/a/x.jsonl and /b/x.jsonl", "a/x.jsonl and b/x.jsonl"),
    ],
)
def test_absolute_paths_are_cut_to_what_tells_them_apart(text, shown):
    assert bare(text) == shown


@pytest.mark.parametrize("text", ["and/or n/a", "3 / 4 = .75", "sentence-transformers/all-MiniLM-L6-v2", "a | /x", ""])
def test_what_is_no_absolute_path_stays(text):
    assert bare(text) == text


def test_rows_and_metrics_keep_fitting_together_and_inputs_lose_their_folders():
    spec = "nli:model=/m/deberta"
    result = without_folders(
        Result(
            "score",
            [{"metric": spec, "dataset": "/a/b/x.tsv", "value": 1.0}],
            [{"path": path, "sha256": "0"} for path in ("/a/b/x.tsv", "data/y.tsv", "/q/b/x.tsv")],
            [{"spec": spec, "signature": f"metric:{spec}", "flags": {}}],
            ["/a/b/x.tsv: odd"],
            command="nlgauge score /a/b/x.tsv --html /out/page.html",
        )
    )
    assert [entry["path"] for entry in result.inputs] == ["a/b/x.tsv", "y.tsv", "q/b/x.tsv"]
    assert result.rows[0] == {"metric": "nli:model=deberta", "dataset": "a/b/x.tsv", "value": 1.0}
    assert result.metrics[0]["spec"] == "nli:model=deberta"
    assert result.command == "nlgauge score a/b/x.tsv --html page.html"
    assert list(result.notes) == ["a/b/x.tsv: odd"]


@pytest.mark.parametrize("name", ["s3://b/x", "a,/b/c", "http://x", "/x/y", "C:\\a\\b"])
def test_names_that_look_like_paths_stay_whole_and_files_do_not(name):
    result = Result(
        kind="score",
        inputs=[{"path": "/home/me/d.jsonl", "sha256": "0"}],
        metrics=[{"spec": "chrf"}],
        rows=[{"system": name, "metric": "chrf"}, {"system": "/home/me/d.jsonl", "metric": "chrf"}],
        notes=[f"system {name!r} of /home/me/d.jsonl has one segment"],
    )
    shown = without_folders(result)
    assert [row["system"] for row in shown.rows] == [name, "d.jsonl"]
    assert shown.notes == [f"system {name!r} of d.jsonl has one segment"]
