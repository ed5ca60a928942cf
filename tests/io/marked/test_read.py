"""Which reader a file wants is told by how it begins."""

import gzip
import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.files.files import InputFile
from nlgauge.io.marked.read import read_marked

SPAN = ErrorSpan(4, 7, "major")
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
FILES = {
    "rows.jsonl": '{"id": "1", "hyp": "The cat", "spans": [{"start": 4, "end": 7, "severity": "major"}]}\n',
    "array.json": '[{"hyp": "The cat", "errors": [{"start_i": 4, "end_i": 7, "severity": "Critical"}]}]',
    "xx.seg.rating": 'A\t{"errors": [{"start": 4, "end": 7, "severity": "major"}]}\n',
    "wmt25.tsv": "segment_id\thypothesis_segment\tstart_indices\tend_indices\terror_types\n1\tThe cat\t4\t7\tmajor\n",
    "qe.tsv": "index\tmt\tstart_ids\tend_ids\terrors\n1\tThe cat\t4\t7\tmajor\n",
    "mqm.tsv": f"{MQM}A\td\t1\t1\tr\tDie Katze\tThe <v>cat</v>\tAccuracy\tMajor\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_finds_its_reader(tmp_path, name):
    path = tmp_path / name
    path.write_text(FILES[name])
    for given in (path, str(path), InputFile(path)):
        (text,) = read_marked(given)
        assert [(span.start, span.end, span.severity) for span in text.spans] == [(4, 7, "major")]


def test_a_packed_file_and_a_first_line_without_errors(tmp_path):
    path = tmp_path / "xx.seg.rating.gz"
    path.write_bytes(gzip.compress(b'A\tNone\nA\t{"errors": []}\n'))
    assert [text.spans for text in read_marked(path)] == [None, ()]


def test_confidences_come_along(tmp_path):
    path = tmp_path / "rows.jsonl"
    errors = [{"start": 0, "end": 3, "severity": "minor", "confidence": 0.25, "text": "The"}]  # as xCOMET has them
    path.write_text(json.dumps({"hyp": "The cat", "errors": errors}) + "\n")
    ((span,),) = (text.spans for text in read_marked(path))
    assert span.confidence == 0.25
    path.write_text(json.dumps({"hyp": "The cat", "errors": [{**errors[0], "confidence": "high"}]}) + "\n")
    with pytest.raises(InputError, match=r"rows.jsonl:1: confidence of a span is 'high', expected a number"):
        read_marked(path)


def test_ends_that_are_included_are_of_json_alone(tmp_path):
    path = tmp_path / "array.json"
    path.write_text(FILES["array.json"].replace('"end_i": 7', '"end_i": 6'))
    assert read_marked(path, inclusive=True)[0].spans == (SPAN,)
    table = tmp_path / "qe.tsv"
    table.write_text(FILES["qe.tsv"])
    with pytest.raises(InputError, match="inclusive is about the ends of ESA's JSON"):
        read_marked(table, inclusive=True)


@pytest.mark.parametrize("content", ["", "a\tb\n", "just a line\n", "system\tscore\nA\t1\n"])
def test_a_file_of_another_kind_is_refused_with_what_is_read(tmp_path, content):
    path = tmp_path / "other.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=r"other.tsv holds no marked errors that can be read, expected JSON lines"):
        read_marked(path)
