import json
from importlib import metadata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge
from nlgauge.core import spec
from nlgauge.core.errors import SpecError
from nlgauge.core.spec import (
    Signature,
    Spec,
    Sum,
    model_line,
    models_of,
    parse,
    quote,
    quote_always,
    split,
    together,
    unquote,
    version,
    weight_text,
    with_documents,
)

names = st.from_regex(r"[A-Za-z][A-Za-z0-9_./-]{0,6}(\+\+)?", fullmatch=True)
keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
# Any text, the names of files that are no UTF-8, and what the grammar itself uses.
values = (
    st.text(max_size=8)
    | st.binary(max_size=8).map(lambda name: name.decode("utf-8", "surrogateescape"))
    | st.from_regex(r'[-+0-9.*e"\\ a,u=\[\]()\n]{0,8}', fullmatch=True)
).filter(lambda value: "\0" not in value)
options = st.dictionaries(keys, values, max_size=3).map(lambda d: tuple(d.items()))
specs = st.builds(Spec, names, options)
weights = st.floats(allow_nan=False, allow_infinity=False)
norms = st.sampled_from(["minmax", "zscore", "none"]) | values.map(lambda path: f"file({quote_always(path)})")
anything = st.recursive(
    specs,
    lambda inner: st.builds(Sum, st.lists(st.tuples(weights, inner), min_size=1, max_size=3).map(tuple), norms),
    max_leaves=5,
)


@given(anything)
def test_what_is_written_is_read_back(spec):
    assert parse(str(spec)) == spec
    assert str(parse(str(spec))) == str(spec)
    # it is one line that every file holds
    assert str(spec).encode().decode().splitlines() == [str(spec)]


@given(values)
def test_a_text_in_quotes_is_read_as_json_reads_it(value):
    for written in (quote_always(value), json.dumps(value), json.dumps(value, ensure_ascii=False)):
        # JSON has short escapes for these; in a specification a backslash before a letter is a backslash: C:\\new
        if not set(value) & set("\b\f\n\r\t") or written == quote_always(value):
            assert unquote(written) == json.loads(written) == value
            assert parse(f"x:a={written}") == Spec("x", (("a", value),))


@given(weights)
def test_a_weight_is_written_exactly(weight):
    assert float(weight_text(weight)) == weight


@given(values)
def test_a_quoted_value_is_one_value(value):
    assert parse(f"bleu:a={quote(value)},b=1") == Spec("bleu", (("a", value), ("b", "1")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bleu", Spec("bleu")),
        ("  chrf++ ", Spec("chrf++")),
        ("paper/bertscore", Spec("paper/bertscore")),
        ("chrf:word_order=2", Spec("chrf", (("word_order", "2"),))),
        (
            "bertscore:model=roberta-large, layer=17,idf=true",
            Spec("bertscore", (("model", "roberta-large"), ("layer", "17"), ("idf", "true"))),
        ),
        ('scores:file="a, b.tsv",column=comet', Spec("scores", (("file", "a, b.tsv"), ("column", "comet")))),
        (r'x:a="say \"no\" \\ and \n"', Spec("x", (("a", r'say "no" \ and \n'),))),
        (r'x:a="C:\new\\temp\u12"', Spec("x", (("a", r"C:\new\temp\u12"),))),
        (r'x:a="\u00fc \\u00fc \ud83d\uDE00 \udcff"', Spec("x", (("a", "ü \\u00fc \U0001f600 \udcff"),))),
        (r"x:a=\u00fc", Spec("x", (("a", r"\u00fc"),))),  # without quotes there are no escapes
        ('x:a="\\\n"', Spec("x", (("a", "\\\n"),))),
        ('x:a=""', Spec("x", (("a", ""),))),
        # a model may go without its option's name
        ("bertscore:roberta-large", Spec("bertscore", (("model", "roberta-large"),))),
        ("x:~/a,layer=1", Spec("x", (("model", "~/a"), ("layer", "1")))),
        ("1*x:a/b@refs/pr/6+1*y", Sum(((1.0, Spec("x", (("model", "a/b@refs/pr/6"),))), (1.0, Spec("y"))))),
        ("x:a=b=c", Spec("x", (("a", "b=c"),))),
        ("0.3*nli + 0.7*bertscore", Sum(((0.3, Spec("nli")), (0.7, Spec("bertscore"))))),
        ("0.5*chrf++ + -.5*ter", Sum(((0.5, Spec("chrf++")), (-0.5, Spec("ter"))))),
        ("1e-2*bleu+2*chrf", Sum(((0.01, Spec("bleu")), (2.0, Spec("chrf"))))),
        # a value that runs into the next term ends before it
        ("1*chrf:beta=3+1*bleu", Sum(((1.0, Spec("chrf", (("beta", "3"),))), (1.0, Spec("bleu"))))),
        ("1*chrf:beta=3+-1*bleu", Sum(((1.0, Spec("chrf", (("beta", "3"),))), (-1.0, Spec("bleu"))))),
        ("1*chrf:model=a+b", Sum(((1.0, Spec("chrf", (("model", "a+b"),))),))),
        ("0.5*a + 0.5*b[norm=zscore]", Sum(((0.5, Spec("a")), (0.5, Spec("b"))), "zscore")),
        ('1*a[norm=file("b.json")]', Sum(((1.0, Spec("a")),), 'file("b.json")')),
        # the suffix binds to the sum it stands in
        (
            "2*(1*a + 1*b[norm=none]) + 3*c",
            Sum(((2.0, Sum(((1.0, Spec("a")), (1.0, Spec("b"))), "none")), (3.0, Spec("c")))),
        ),
        ("2*(1*a + 1*b)[norm=none]", Sum(((2.0, Sum(((1.0, Spec("a")), (1.0, Spec("b"))))),), "none")),
    ],
)
def test_the_grammar(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a metric name at character 1, found the end"),
        ("bleu chrf", "expected the end at character 6, found 'chrf'"),
        ("bleu:", "expected an option, key=value at character 6, found the end"),
        ("bleu:tokenize", "expected '=' at character 14, found the end"),
        ("bleu:word-order=2", "expected '=' at character 10, found '-order=2'"),
        ("x:a=1,b-c", "expected '='"),  # and is then the first
        ("x:a-b,model=c", "option 'model' is given twice"),
        ("bleu:tokenize=", "expected a value at character 15, found the end"),
        ('bleu:tokenize="13a', 'expected a closing " at character 19, found the end'),
        ("bleu:a=1,", "expected an option, key=value"),
        (
            "x:a=/my models/x",
            "expected the end, or double quotes around a whole value, at character 9, found 'models/x'",
        ),
        (r'x:a="a\u0000"', r"""expected a name that a file may have at character 5, found '"a\\u0000"'"""),
        (r'x:a="\ud800a"', "expected a name that a file may have"),
        ("x:a=\0", "expected a value"),
        ("bleu:a=1,a=2", "option 'a' is given twice"),
        ("bleu + chrf", "a sum needs a weight before every metric, as in '0.5*bleu + 0.5*chrf'"),
        ("0.5*bleu + chrf", "expected a weight, as in 0.3*bleu at character 12, found 'chrf'"),
        ("0.5 bleu", "expected '*' at character 5, found 'bleu'"),
        ("(1*bleu)", "expected a weight"),
        ("1*(1*bleu", "expected ')'"),
        ("1*bleu[norm=maxmin]", "expected minmax, zscore, none or file"),
        ("1*bleu[norm=file(b.json)]", "expected '\"'"),
        ("guarded(bleu)", "options stand behind a colon, as in 'chrf:beta=1', and not in brackets"),
        ("1e999*bleu", "a weight is too large for a number"),
    ],
)
def test_what_is_off_the_grammar_is_told_with_its_place(text, message):
    with pytest.raises(SpecError) as error:
        parse(text)
    assert message in str(error.value)
    assert repr(text) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("opening", ["1*(", "1*(1*a + 1*("])
def test_what_is_nested_without_an_end_is_refused_in_one_line(opening):
    for times in (11, 400, 5000, 50_000):
        with pytest.raises(SpecError, match=r"more than 10 brackets|, expected 100000 at most") as said:
            parse(opening * times)
        assert len(str(said.value)) < 400


def test_ten_brackets_are_read():
    inside = parse("1*(" * 10 + "1*chrf" + ")" * 10)
    for _ in range(11):
        ((_, inside),) = inside.terms
    assert inside == Spec("chrf")
    # brackets that are closed again do not add up
    assert len(parse(" + ".join(["1*(1*a)"] * 11)).terms) == 11
    with pytest.raises(SpecError) as error:
        parse('x:a="' + "b" * 99_000)
    assert "expected a closing" in str(error.value)
    assert len(str(error.value)) < 400


@given(st.text(max_size=20) | st.from_regex(r'[-+0-9.*a:="\[\]() ,normfile]{0,20}', fullmatch=True))
def test_any_text_is_read_or_refused(text):
    try:
        found = parse(text)
    except SpecError:
        return
    assert parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("bleu", ["bleu"]),
        ("bleu,chrf", ["bleu", "chrf"]),
        ("bleu:lowercase=true,tokenize=zh, chrf:beta=1", ["bleu:lowercase=true,tokenize=zh", "chrf:beta=1"]),
        ('scores:file="a,b.tsv",column=x,ter', ['scores:file="a,b.tsv",column=x', "ter"]),
        ('scores:file="a\\",b",column=x', ['scores:file="a\\",b",column=x']),
        ('scores:file="a\\\n,b"', ['scores:file="a\\\n,b"']),
        ("0.5*bleu + 0.5*chrf:beta=1,ter", ["0.5*bleu + 0.5*chrf:beta=1", "ter"]),
        ('1*(1*bleu + 1*ter)[norm=file("a,b")]', ['1*(1*bleu + 1*ter)[norm=file("a,b")]']),
        ("1*(1*bleu:a=1,b=2),ter", ["1*(1*bleu:a=1,b=2)", "ter"]),
        ("bleu:lowercase=true,", ["bleu:lowercase=true,"]),  # the grammar refuses it whole, with the place
        (",", [","]),
    ],
)
def test_a_list_with_commas_is_taken_apart_outside_of_options(text, parts):
    assert split(text) == parts


@given(specs, specs)
def test_two_specifications_with_a_comma_between_them_are_two(one, other):
    assert split(f"{one},{other}") == [str(one), str(other)]


@pytest.mark.parametrize("text", ["", "a", 'a"', '"a', '"a"b', '"a"b"'])
def test_what_is_not_in_quotes_is_refused(text):
    with pytest.raises(SpecError, match="expected"):
        unquote(text)


def test_a_package_that_is_not_installed_is_absent():
    assert version("no-such-distribution-of-anything") == "absent"


def test_the_text_of_a_signature():
    assert str(Signature("toy", (("metric", "toy"), ("a", "1")))) == "metric:toy|a:1"


def test_parts_with_frequencies_of_their_own_have_one_digest_together():
    bare = Signature("m", (("metric", "m"), ("nlgauge", "1")))
    one, other = with_documents(bare, ["a", "b"]), with_documents(bare, ["c"])
    assert together([bare, bare]) == bare
    assert together([one]) == together([one, one]) == one
    both = together([one, other])
    assert both == together([other, one])
    assert both not in (one, other)
    assert [key for key, _ in both.entries] == ["metric", "documents", "nlgauge"]


_EMBEDDED, _BASE = "weights:sha256:53aa51172d142c89", "weights:sha256:78c0197b6159d926"
_BERTSCORE = f"metric:bertscore|model:embedded|layer:4|{_EMBEDDED}|nlgauge:1"
_NLI = f"metric:nli|model:nli|head:sha256:12|{_EMBEDDED}|nlgauge:1"
_SMALL = {"bertscore:model=multilingual": "multilingual-e5-small in four bits"}
_MEANT = "bert-score means roberta-large, here paper/bertscore"


@pytest.mark.parametrize(
    ("named", "signature", "said"),
    [
        ("bleu", "metric:bleu|tokenize:13a|nlgauge:1", {}),
        ("theirs", "scores:theirs.tsv", {}),
        ("bertscore:idf=true", _BERTSCORE, {"bertscore:idf=true": f"all-MiniLM-L6-v2; {_MEANT}"}),
        ("bertscore", f"metric:bertscore|model:base|{_BASE}", {"bertscore": f"all-mpnet-base-v2; {_MEANT}"}),
        ("bertscore:model=multilingual", "metric:bertscore|model:multilingual", _SMALL),
        ("paper/bertscore", "metric:bertscore|model:roberta-large|revision:1", {"paper/bertscore": "roberta-large"}),
        ("bertscore:model=roberta-large", "metric:bertscore|model:roberta-large|revision:1", {}),
        (
            "bertscore:model=copy",
            f"metric:bertscore|model:folder|{_BASE}",
            {"bertscore:model=copy": "all-mpnet-base-v2"},
        ),
        ("bertscore:model=mine", "metric:bertscore|model:folder|weights:sha256:00", {}),
        ("nli", _NLI, {"nli": "our head on all-MiniLM-L6-v2"}),
        (
            "sescore",
            f"metric:sescore|model:sescore|head:sha256:1|{_EMBEDDED}",
            {"sescore": "our head, not the authors'"},
        ),
        (
            "sescore:model=mine.safetensors",
            f"metric:sescore|model:file|head:sha256:1|{_BASE}",
            {"sescore:model=mine.safetensors": "a head on all-mpnet-base-v2"},
        ),
        # its terms are part of it: one name for all
        ("gauge", f"metric:gauge|encoder:embedded|terms:0.5*({_BERTSCORE} - 1)", {"gauge": "all-MiniLM-L6-v2"}),
        (
            "paper/menli-d",
            "metric:combination|terms:0.2*(metric:nli|model:o/d|a:1) + 0.8*(metric:bertscore|model:roberta-large|a:1)",
            {"nli": "o/d", "bertscore": "roberta-large"},
        ),
        (
            "qmetric:base=bertscore",
            f"metric:qmetric|base:({_BERTSCORE})|a:1",
            {"bertscore": f"all-MiniLM-L6-v2; {_MEANT}"},
        ),
        (
            "0.5*bleu + 0.5*nli",
            f"metric:combination|terms:0.5*(metric:bleu) + 0.5*({_NLI})",
            {"nli": "our head on all-MiniLM-L6-v2"},
        ),
    ],
)
def test_a_signature_says_which_model_a_number_is_of(named, signature, said):
    assert models_of({"spec": named, "signature": signature}) == said


def test_models_of_several_metrics_are_one_line():
    signatures = {"nli": _NLI, "bertscore": _BERTSCORE, "bleu": "metric:bleu|a:1", "nli:formula=e-c": _NLI}
    listed = [{"spec": name, "signature": signature} for name, signature in signatures.items()]
    head = "our head on all-MiniLM-L6-v2"
    assert model_line(listed) == f"nli, nli:formula=e-c: {head}. bertscore: all-MiniLM-L6-v2; {_MEANT}"
    assert model_line(listed[2:3]) == model_line([{"spec": "theirs"}]) == ""


def test_the_release_is_that_of_the_distribution():
    try:
        installed = metadata.version("nlgauge")
    except metadata.PackageNotFoundError:  # run from a folder of sources
        installed = "absent"
    assert nlgauge.__version__ == spec.__version__ == installed
