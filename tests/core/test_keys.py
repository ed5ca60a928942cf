from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.keys import RepeatedKey, check_keys, unique

values = st.recursive(
    st.none() | st.integers(-5, 5) | st.text(st.sampled_from('a":,{} \\\n'), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", 'c":']), inner, max_size=3),
    max_leaves=8,
)


@given(value=values, separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :"), ("\t,", "\n:")]))
def test_an_object_with_each_key_once_is_taken_however_it_is_written(value, separators):
    check_keys(json.dumps(value, separators=separators), value)


@given(
    value=values, colon=st.sampled_from([":", " :", "\t: ", "\n:"]), place=st.sampled_from(["%s", "[%s]", '{"x":[%s]}'])
)
def test_a_key_that_stands_twice_is_found_wherever_it_is(value, colon, place):
    inner = json.dumps(value)
    text = place % f'{{"hyp"{colon}{inner},"n":{{}},"hyp"{colon}{inner}}}'
    with pytest.raises(RepeatedKey, match="field 'hyp' stands twice in one object"):
        check_keys(text, msgspec.json.decode(text))


def test_a_key_written_with_escapes_is_the_same_key():
    text = r'{"hyp":"a","h\u0079p":"b"}'
    with pytest.raises(RepeatedKey, match="'hyp'"):
        check_keys(text, json.loads(text))
    with pytest.raises(RepeatedKey, match="'hyp'"):
        json.loads(text, object_pairs_hook=unique)
