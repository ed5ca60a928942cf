import gzip
import hashlib
import json
import os

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.parallel import open_parallel, read_paraphrases, read_raw, read_texts, system_names
from nlgauge.io.read import read


def segments(source, **options):
    return [s for block in source.blocks(**options) for s in block]


def test_all_systems_of_an_item_lie_beside_each_other(put):
    hypotheses = [put("sysA.txt", "a1\na2\n"), put("sysB.txt.gz", gzip.compress(b"b1\n\n"))]
    source = open_parallel(hypotheses, [put("r1", "x\ny"), put("r2", "p\nq\n")], put("s", "i\nj\n"))
    assert segments(source) == [
        Segment("sysA:1", "a1", ("x", "p"), "i", "sysA", "1"),
        Segment("sysB:1", "b1", ("x", "p"), "i", "sysB", "1"),
        Segment("sysA:2", "a2", ("y", "q"), "j", "sysA", "2"),
        Segment("sysB:2", "", ("y", "q"), "j", "sysB", "2"),
    ]
    source = open_parallel([put("h.txt", "a\n")])
    assert segments(source) == [Segment("h:1", "a", (), None, "h", "1")]
    assert {"references", "source"} <= source.check().lacking.keys()


def test_the_summary(put):
    summary = open_parallel([put("b.txt", "1\r\n2\r\n"), put("a.txt", "1\n2\n")], [put("r", "\ufeffx\ny\n")]).check()
    assert summary.n == 4
    assert list(summary.systems.items()) == [("b", 2), ("a", 2)]
    assert summary.groups == {None: 4}
    assert summary.present == {"references", "system", "item"}
    assert summary.lacking == dict.fromkeys(["source", "group", "human", "context", "table"], "b:1")
    assert summary.inputs[0] == {"path": "b.txt", "sha256": hashlib.sha256(b"1\r\n2\r\n").hexdigest()}
    assert [entry["path"] for entry in summary.inputs] == ["b.txt", "a.txt", "r"]
    assert summary.notes == ()


@pytest.mark.parametrize(
    ("hypothesis", "reference", "says"),
    [
        (
            "a\nb\nc\n",
            "a\nb",
            "h has 3 lines but r has 2 lines; parallel files need one line per segment each; line 3 of h has no"
            " partner, as it seems: line 3 is 'c'",
        ),
        (
            "a",
            "a\n\n",
            "h has 1 line but r has 2 lines; parallel files need one line per segment each; line 2 of r is blank, at"
            " its end",
        ),
        ("", "a\n", "h is empty, expected one segment per line"),
        ("a\n", "", "r is empty, expected one segment per line"),
    ],
)
def test_unequal_counts_are_told_before_any_segment(put, hypothesis, reference, says):
    with pytest.raises(InputError) as error:
        open_parallel([put("h", hypothesis)], [put("r", reference)]).blocks()
    assert str(error.value) == says


ITEMS = ["the cat sat on the mat", "it rains today", "a red house stands there", "dogs bark", "we go home at 5"]
SOURCES = ["die Katze saß auf der Matte", "es regnet heute", "dort steht ein rotes Haus", "Hunde bellen", "um 5 heim"]


@pytest.mark.parametrize("others", [[text.replace("the", "that") for text in ITEMS], SOURCES])
@pytest.mark.parametrize(
    ("at", "extra", "says"),
    [
        (2, ["snow fell on the hills in the north of the country"], "line 3 of h has no partner"),
        (1, [""], "line 2 of h has no partner, as it seems: line 2 is blank"),
        (0, ["Title of the text", "by its author"], "lines 1 to 2 of h have no partner"),
        (5, ["", ""], "lines 6 to 7 of h are blank, at its end"),
    ],
)
def test_files_of_unequal_length_show_where_they_part(put, at, extra, says, others):
    hypotheses = put("h", "".join(line + "\n" for line in [*ITEMS[:at], *extra, *ITEMS[at:]]))
    references = put("r", "".join(line + "\n" for line in others))
    with pytest.raises(InputError, match=says):
        open_parallel([hypotheses], [references]).check()


def test_the_file_that_differs_is_the_one_named(put):
    source = open_parallel(
        [put("h1", "a\nb\n"), put("h2", "a\nb\n")], [put("r1", "a\nb\n"), put("r2", "a\n")], put("s", "a\nb\n")
    )
    with pytest.raises(InputError, match=r"^h1 has 2 lines but r2 has 1 line;"):
        source.check()


def test_standard_input_serves_one_side_and_a_bare_path_none(put, feed):
    put("h", "a\nb\n")
    feed("x\ny\n")
    assert [s.references for s in segments(open_parallel(["h"], ["-"]))] == [("x",), ("y",)]
    feed("x\ny\n")
    assert [s.system for s in segments(open_parallel(["-", "h"], ["h"]))] == ["stdin", "h", "stdin", "h"]
    with pytest.raises(InputError, match=r"^'-' \(standard input\) is given 2 times, expected once"):
        open_parallel(["-"], ["-"])
    with pytest.raises(InputError, match=r"write \[path\]"):
        open_parallel(put("h", "a\n"))  # type: ignore[arg-type]


def test_blocks_hold_whole_items(put):
    source = open_parallel([put(name, "1\n2\n3\n4\n5\n") for name in "abc"])
    blocks = list(source.blocks(size=4))
    assert [len(b) for b in blocks] == [6, 6, 3]
    assert [s.id for s in blocks[0]] == ["a:1", "b:1", "c:1", "a:2", "b:2", "c:2"]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["out/sysA.txt", "sysB.txt.gz"], ["sysA", "sysB"]),
        (["newstest.sysA.en"], ["newstest.sysA"]),
        (["hyp", "-"], ["hyp", "stdin"]),
        (["sysA/out.txt", "sysB/out.txt", "other.txt"], ["sysA/out", "sysB/out", "other"]),
        (["a.txt", "a.out", "b.txt"], ["a.txt", "a.out", "b"]),
        (["a.txt", "a.txt.gz"], ["a.txt", "a.txt.gz"]),
        (["x/s/out.txt", "y/s/out.txt"], ["x/s/out", "y/s/out"]),
        (["a.txt", "../a.txt"], ["a", "../a"]),
        (["-", "stdin.txt"], ["-", "stdin.txt"]),
    ],
)
def test_system_names_are_short_and_distinct(paths, names):
    assert system_names(paths) == names


def test_the_same_file_twice_is_refused():
    with pytest.raises(InputError, match=r"^hypothesis file a\.txt is given twice"):
        system_names(["a.txt", "b.txt", "./a.txt"])
    with pytest.raises(InputError, match=r"^no hypothesis file is given"):
        system_names([])


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX")
def test_a_file_name_that_is_no_utf_8_gives_a_system_name_that_can_be_written():
    names = system_names([os.fsdecode(b"w\xff.txt"), os.fsdecode(b"w\xfe.txt"), "wé.txt"])
    assert names == ["w\\xff", "w\\xfe", "wé"]
    assert all(name.encode("utf-8") for name in names)


SGM = """<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">
<tstset setid="t" srclang="de" trglang="en">
<doc docid="d1" sysid="A">
<hl><seg id="1">It rains &amp; pours .</seg></hl>
<p>
<seg id="2"> A  cat
is here . </seg>
</p>
</doc>
</tstset>
"""


def test_sgm_and_xml_are_read_for_their_texts(put):
    put("hyp.sgm", SGM)
    put("ref.sgm", SGM.replace("tstset", "refset").replace("cat", "dog").replace('"A"', '"ref"'))
    put("src.sgm", SGM.replace("tstset", "srcset").replace(' sysid="A"', ""))
    source = open_parallel(["hyp.sgm"], ["ref.sgm", put("ref.txt", "x\ny\n")], "src.sgm")
    assert segments(source) == [
        Segment("hyp:1", "It rains & pours .", ("It rains & pours .", "x"), "It rains & pours .", "hyp", "1"),
        Segment("hyp:2", "A cat is here .", ("A dog is here .", "y"), "A cat is here .", "hyp", "2"),
    ]
    assert "hyp.sgm: 2 segments read from between the marks of SGM or XML" in source.check().notes
    put("hyp.sgm", SGM)
    put("ref.sgm", SGM.replace('id="1"', 'id="3"'))
    with pytest.raises(
        InputError, match=r"^ref\.sgm: segment '3' of document 'd1' stands where hyp\.sgm has segment '1'"
    ):
        open_parallel(["hyp.sgm"], ["ref.sgm"]).check()


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("d.jsonl", '{"hyp": "a", "ref": "b"}\n', "JSON"),
        ("d.jsonl", '{"anything": "a"}\n', "JSON"),
        ("d.txt", '{"hyp": "a", "ref": "b"}\n', "JSON"),
        ("d.txt", '{"prediction": "a", "reference": "b"}\n', "JSON"),
        ("d.json", '[\n {"text": "a"}]\n', "JSON"),
        ("d.json", '{\n "model": {"x": 1}}\n', "JSON"),
        ("d.tsv", "a text\tanother\nb\tc\n", "a table (TSV)"),
        ("d.txt", "id\thyp\n1\tc\n", "a table (TSV)"),
        ("d.csv", "id,prediction\n1,c\n", "a table (CSV)"),
        ("d.parquet", "PAR1", "Parquet"),
    ],
)
def test_a_table_is_refused_with_how_it_is_given(put, name, content, what):
    put(name, content)
    for hypotheses, references, source in (([name], [], None), (["h"], [name], None), (["h"], ["h"], name)):
        put("h", "a\n")
        with pytest.raises(InputError) as error:
            open_parallel(hypotheses, references, source)
        assert str(error.value).startswith(f"{name} is {what}, expected one text per line; give it as DATA: nlgauge ")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("h.txt", '{"name": "Blue Spice", "eatType": "pub"}'),  # a system whose outputs are JSON
        ("h.txt", "{curly} beginnings"),
        ("h.txt", "[1] It rains."),
        ("h.json", "[1] It rains."),
        ("h.txt", "<b>It rains.</b>"),
        ("h.xml", "<?xml version='1.0'?><a>it rains</a>"),
        ("h.txt", "<refset is a word>"),
        ("h.txt", "<reference>It rains.</reference>"),
        ("h.csv", "It rains, and pours."),
        ("h.tsv", "It rains."),
        ("h.txt", "It\train\ts."),
    ],
)
def test_texts_that_merely_begin_like_something_else_are_read(put, name, line):
    found = segments(open_parallel([put(name, f"{line}\n{line}\n")]))
    assert [segment.hypothesis for segment in found] == [line, line]


# --- Raw texts come from lines as they stand, or once each from the references of a data set


def test_lines_are_texts_and_their_numbers_ids(tmp_path):
    path = tmp_path / "texts.en.txt"
    path.write_bytes("\ufeffFirst line.\r\n\n  Third\u2028line.".encode())
    found = read_raw(path)
    assert (found.ids, found.texts) == (("1", "2", "3"), ("First line.", "", "  Third\u2028line."))
    assert found.inputs[0]["path"] == str(path)
    assert found.notes == ()
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InputError, match="is empty, expected one text per line"):
        read_raw(tmp_path / "empty.txt")


def test_of_a_data_set_each_reference_is_taken_once(tmp_path):
    rows = [
        {"id": "a/1", "hyp": "h", "refs": ["one", "two"]},
        {"id": "b/1", "hyp": "i", "refs": ["one", "two"]},
        {"id": "a/2", "hyp": "alone", "refs": []},
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_raw(path)
    assert dict(zip(found.ids, found.texts, strict=True)) == {"a/1": "one", "a/1.2": "two", "a/2": "alone"}


def test_paraphrases_are_the_other_texts_of_an_item(tmp_path):
    path = tmp_path / "d.jsonl"
    rows = [
        {"id": "x", "seg": "1", "hyp": "h", "refs": ["a", "b", "a"]},
        {"id": "y", "seg": "1", "hyp": "g", "refs": ["c"]},
        {"id": "z", "seg": "2", "hyp": "k", "refs": ["d", "d"]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = read_paraphrases(path)
    assert dict(zip(found.texts, found.others, strict=True)) == {"a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b")}
    assert found.ids == ("x", "x.2", "y")
    assert found.notes[-1] == "1 of 2 items have no second text and are left out"
    pairs = read_paraphrases(path, hypotheses=True)
    assert dict(zip(pairs.texts, pairs.others, strict=True))["k"] == ("d",)
    assert set(pairs.texts) == set("habgckd")


def test_what_holds_no_paraphrases_is_refused(tmp_path):
    lines, alone = tmp_path / "t.txt", tmp_path / "d.tsv"
    lines.write_text("one\ntwo\n", encoding="utf-8")
    alone.write_text("hyp\tref\nh\tr\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.txt has one text per line, and paraphrases are texts of one item"):
        read_paraphrases(lines)
    with pytest.raises(InputError, match="none of 1 items has two references that differ"):
        read_paraphrases(alone)
    assert read_paraphrases(alone, hypotheses=True).others == (("r",), ("h",))


def test_a_text_file_is_a_data_set_of_its_lines(tmp_path):
    path = tmp_path / "texts.en"
    path.write_text("It rains.\n\nIt snows.\n")
    assert [(s.id, s.hypothesis, s.references) for s in read_texts(path)] == [
        ("1", "It rains.", ()),
        ("2", "", ()),
        ("3", "It snows.", ()),
    ]
    (tmp_path / "d.jsonl").write_text('{"output": "a", "gold": "b"}\n')
    assert [(s.hypothesis, s.references) for s in read_texts(tmp_path / "d.jsonl")] == [("a", ("b",))]
    (tmp_path / "d").write_text('{"hyp": "a", "gold": "b"}\n')
    with pytest.raises(InputError, match="is JSON, expected one text per line; give it as DATA"):
        read_texts(tmp_path / "d")


# --- Files of other tools, and lines with an id each

PAGE = "<!DOCTYPE html>\n<html>\n<body>Not Found</body>\n</html>\n"
CATALOGUE = '# of a program\nmsgid ""\nmsgstr "Language: en\\n"\n\nmsgid "ja"\nmsgstr "yes"\n'
SRT = "1\n00:00:00,000 --> 00:00:01,500\nIt rains.\n\n2\n00:00:02,000 --> 00:00:03,500\nIt pours.\n"
OTHERS = [
    (CATALOGUE, "a catalogue of gettext"),
    (SRT, "subtitles with times"),
    ("0:00:00.000,0:00:01.000\nIt rains.\n", "subtitles with times"),
    ("WEBVTT\n\n00:01.000 --> 00:02.000\nIt rains.\n", r"subtitles \(WebVTT\)"),
    ("0 ||| it rains ||| F= -1 ||| -2\n0 ||| it pours ||| F= -2 ||| -3\n", r"a list of fields between '\|\|\|'"),
    ("a 1 0.0 0.25 it\na 1 0.25 0.5 rains 0.9\n", r"a list of words with times \(CTM\)"),
    (PAGE, "a page of HTML"),
    ("%PDF-1.7\n", "a PDF"),
]


@pytest.mark.parametrize(("content", "what"), OTHERS)
def test_files_of_other_tools_are_refused_on_every_side_and_as_data(put, content, what):
    put("h", "a\n")
    name = put("x", content)
    for hypotheses, references, source in (([name], [], None), (["h"], [name], None), (["h"], ["h"], name)):
        with pytest.raises(InputError, match=f"^x is {what}"):
            open_parallel(hypotheses, references, source)
    for reader in (read, read_raw):
        with pytest.raises(InputError, match=f"^x is {what}"):
            reader(name)


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.json"])
def test_a_page_under_the_name_of_a_table_is_told(put, name):
    with pytest.raises(InputError, match=rf"^{name} is a page of HTML"):
        read(put(name, PAGE))


@pytest.mark.parametrize(
    "lines",
    [
        ["<html><p>It rains.</p></html>", "<html><p>It pours.</p></html>"],  # a page on each line
        ["At 00:01 --> 00:02 it rains.", "It pours."],
        ["00:00:00,000 --> 00:00:01,500", *["It rains."] * 8],  # noise of a corpus
        ['msgid "x" is a line of a catalogue.', "It rains."],
        ["a ||| b", "It rains."],
        ["%PDF is a format.", "WEB"],
        ["It rains (1990s).", "It pours (2000s)."],
        ["It rains (A1)", "It pours (A1)"],
        ["1st of May", "2nd of May"],
        ["COVID-19 is here.", "COVID-19 was here."],
    ],
)
def test_texts_that_are_like_them_in_places_are_read(put, lines):
    put("x", "".join(f"{line}\n" for line in lines))
    found = [segment.hypothesis for block in open_parallel(["x"], ["x"]).blocks() for segment in block]
    assert found == lines


KALDI = {"utt-2": "it pours", "utt-0": "it rains", "utt-1": ""}


def written(put, name, form, texts):
    return put(name, "".join(form.format(key, text).strip() + "\n" for key, text in texts.items()))


@pytest.mark.parametrize("form", ["{} {}", "{}\t{}", "{1} ({0})"])
def test_texts_with_ids_are_paired_by_them(put, form):
    files = [written(put, "h", form, KALDI), written(put, "r", form, dict(sorted(KALDI.items())))]
    source = open_parallel(files[:1], files[1:], written(put, "s", form, {key: f"s {key}" for key in KALDI}))
    found = [(s.item, s.hypothesis, s.references, s.source) for block in source.blocks() for s in block]
    assert found == [(str(i), t, (t,), f"s {key}") for i, (key, t) in enumerate(KALDI.items(), start=1)]
    assert "r: 3 lines have an id each, which is no text; texts are paired by it" in source.check().notes


@pytest.mark.parametrize("form", ["{} {}", "{1} ({0})"])
def test_ids_that_differ_between_files_are_refused(put, form):
    first = written(put, "h", form, KALDI)
    with pytest.raises(
        InputError, match=r"^h has an id on each line, as 'utt-2', and r has others \('utt-1' is in one"
    ):
        open_parallel([first], [written(put, "r", form, {k: t for k, t in KALDI.items() if t})])
    with pytest.raises(
        InputError, match=r"^h has an id .* and s has none; expected the same ids in all files, or none"
    ):
        open_parallel([first], [first], put("s", "it rains\nit\npours\n"))


def test_ids_in_parentheses_on_one_side_are_refused(put):
    with pytest.raises(InputError, match=r"^h has an id on each line, as 'utt-2', and r has none"):
        open_parallel([written(put, "h", "{1} ({0})", KALDI)], [put("r", "it pours\nit rains\n\n")])
