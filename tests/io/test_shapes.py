import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.parallel import open_parallel, read_raw
from nlgauge.io.read import read

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
