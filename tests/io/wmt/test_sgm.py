from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.limits import Limits, limited
from nlgauge.io.parallel import open_parallel
from nlgauge.io.wmt.sgm import is_sgm, read_sgm

XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021">
  <doc id="d1" origlang="en">
    <src lang="en"><p><seg id="1">one</seg><seg id="2">two &lt; three</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">eins</seg><seg id="2">zwei</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">Eins</seg><seg id="2">Zwei</seg></p></ref>
    <hyp lang="de" system="X"><p><seg id="1">ein</seg><seg id="2">zwo</seg></p></hyp>
  </doc>
  <doc id="d2">
    <src lang="en"><p><seg id="1">four</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">vier</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">Vier</seg></p></ref>
    <hyp lang="de" system="X"><p><seg id="1">fier</seg></p></hyp>
  </doc>
</dataset>
"""


@pytest.fixture
def read(put):
    return lambda content, role="hyp": read_sgm(InputFile(put("x.sgm", content)), role)


def listed(found):
    return {one.who: [text for _, text in one] for one in found}


def test_xml_of_wmt_holds_all_sides(read):
    assert listed(read(XML, "src")) == {"": ["one", "two < three", "four"]}
    assert listed(read(XML, "ref")) == {"A": ["eins", "zwei", "vier"], "B": ["Eins", "Zwei", "Vier"]}
    (found,) = read(XML)
    assert (found.who, found.count) == ("X", 3)
    assert found.keys == (("d1", "1"), ("d1", "2"), ("d2", "1"))


def test_sgm_of_several_systems_or_translators(read):
    sets = "".join(f'<DOC sysid="{name}" docid="d"><seg id=1>{name}</seg></DOC>' for name in "AB")
    assert listed(read(f"<refset setid='x'>{sets}</refset>", "ref")) == {"A": ["A"], "B": ["B"]}
    assert listed(read("<tstset sysid='C'><doc docid='d'><seg>c</seg></doc></tstset>")) == {"": ["c"]}
    assert listed(read(f"<refset setid='x'>{sets}</refset>", "hyp")) == {"A": ["A"], "B": ["B"]}  # the only set


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a &amp; b &quot;c&quot; &#39;d&#x27;", "a & b \"c\" 'd'"),
        ("AT&T a < b > c &copy; &#xD800; &#9999999;", "AT&T a < b > c &copy; &#xD800; &#9999999;"),
        ("  a\n\tb ", "a b"),
        ("a\u00a0b", "a\u00a0b"),
        ("", ""),
        ("&amp;lt;", "&lt;"),  # once, not twice
        ("a <src> in a text", "a <src> in a text"),
    ],
)
def test_the_text_between_marks(read, raw, text):
    assert listed(read(f"<tstset><doc docid='d'><seg id='1'>{raw}</seg></doc></tstset>")) == {"": [text]}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("<tstset><doc><seg>a", r"^x\.sgm:1: a seg that is never closed"),
        ("<tstset></tstset>", r"^x\.sgm holds no seg, expected hypotheses$"),
        (XML.replace("hyp", "note"), r"^x\.sgm holds sources, references, expected hypotheses$"),
        ("<tstset><doc docid='d'><seg id='1'>a</seg>\n<seg id='1'>b</seg></doc></tstset>", "x.sgm:2: .* second time"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><tstset><seg>&b;</seg></tstset>", "defines entities"),
        ("<tstset><doc><seg><![CDATA[a]]></seg></doc></tstset>", "defines entities or holds CDATA"),
        (b"<tstset><doc><seg>\xe9</seg></doc></tstset>", "not UTF-8"),
    ],
)
def test_what_is_wrong_is_refused(read, content, says):
    with pytest.raises(InputError, match=says):
        read(content)


def test_entities_are_never_expanded(put):
    # a billion laughs: each is ten of the one before
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    put("x.sgm", f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]>\n<dataset><doc>&l9;</doc></dataset>')
    with pytest.raises(InputError, match=r"^x\.sgm is XML and not that of WMT, expected one text per line"):
        open_parallel(["x.sgm"])


def test_a_text_beyond_the_limit_is_refused(read):
    with limited(Limits(segment=5)), pytest.raises(InputError, match="a text of 6 characters"):
        read("<tstset><doc><seg>abcdef</seg></doc></tstset>")


@pytest.mark.parametrize(
    ("head", "yes"),
    [
        ("<tstset a='b'><seg id=1>", True),
        ("\ufeff\n<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE m>\n<mteval><refset><doc>", True),
        ("<REFSET>\n<DOC>", True),
        ("<srcsets><doc>", False),
        ("<dataset", False),
        ("a <tstset><doc>", False),
        ("<tstset>", False),
        ("<doc>", False),
    ],
)
def test_only_a_set_of_texts_begins_so(put, head, yes):
    assert is_sgm(InputFile(put("x", head))) is yes
