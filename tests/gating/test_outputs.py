"""Items and runs: keys, pairs, inputs that differ, and clusters."""

from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.gating.outputs import Outputs, clusters_of, from_texts, paired, same_texts


def outputs(*rows, name="BASE", system=None):
    return Outputs.of(Dataset(tuple(Segment(f"{name}{i}", **row) for i, row in enumerate(rows))), name, system)


def test_rows_of_one_item_are_its_runs():
    found = outputs(*({"hypothesis": text, "item": item} for text, item in (("a", "1"), ("b", "2"), ("c", "1"))))
    assert {item: [run.hypothesis for run in runs] for item, runs in found.items.items()} == {
        "1": ["a", "c"],
        "2": ["b"],
    }
    assert found.repeats == 2


def test_without_items_ids_are_the_keys():
    assert [*outputs({"hypothesis": "a"}, {"hypothesis": "b"}).items] == ["BASE0", "BASE1"]


def test_one_number_in_two_groups_is_two_items():
    rows = [{"hypothesis": "a", "item": i, "group": g} for i, g in (("1", "de"), ("1", "fr"), ("2", "de"))]
    assert [*outputs(*rows).items] == ["de:1", "fr:1", "2"]


def test_a_system_is_chosen_by_name():
    rows = [{"hypothesis": s, "item": "1", "system": s} for s in ("one", "two")]
    assert outputs(*rows, system="two").segments[0].hypothesis == "two"
    with pytest.raises(InputError, match="BASE holds 2 systems"):
        outputs(*rows)
    with pytest.raises(InputError, match="no system 'tow'; did you mean 'two'"):
        outputs(*rows, system="tow")


def test_half_of_the_items_named_is_refused():
    with pytest.raises(InputError, match="names no item"):
        outputs({"hypothesis": "a", "item": "1"}, {"hypothesis": "b"})
    with pytest.raises(InputError, match="holds no segment"):
        outputs()


def test_lists_of_runs_become_segments():
    data = from_texts([["a", "b"], ["c"]], "NEW", ["r", "s"], None, ["x", "y"], ["g", "g"])
    assert [(s.id, s.item, s.group, s.references) for s in data] == [
        ("x", "x", "g", ("r",)),
        ("x#2", "x", "g", ("r",)),
        ("y", "y", "g", ("s",)),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], "NEW", None, None, ["1", "2"]), "1 items but 2 ids"),
        ((["a", "b"], "NEW", None, None, ["1", "1"]), "id '1' occurs twice"),
        (([[]], "NEW"), "item '1' has no run"),
        (([None], "NEW"), "entry 0 holds NoneType"),
        (([["a", 3]], "NEW"), "entry 0 holds int"),
    ],
)
def test_lists_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        from_texts(*arguments)


def test_pairs_are_in_the_order_of_base():
    base = outputs({"hypothesis": "a", "item": "1"}, {"hypothesis": "b", "item": "2"})
    new = outputs({"hypothesis": "c", "item": "2"}, {"hypothesis": "d", "item": "1"}, name="NEW")
    _, turned = paired(base, new)
    assert [*turned.items] == ["1", "2"]
    assert not same_texts(base, turned)
    assert same_texts(base, base)


def test_an_item_that_one_side_lacks_is_an_error():
    base = outputs({"hypothesis": "a", "item": "1"}, {"hypothesis": "b", "item": "2"})
    with pytest.raises(InputError, match=r"NEW lacks 1 of 2 items of BASE .'2'."):
        paired(base, outputs({"hypothesis": "a", "item": "1"}, name="NEW"))
    with pytest.raises(
        InputError, match=r"the ids have nothing in common, so name the key of items with --columns seg="
    ):
        paired(base, outputs({"hypothesis": "a", "item": "x1"}, {"hypothesis": "a", "item": "x2"}, name="NEW"))
    more = [{"hypothesis": "a", "item": str(i)} for i in range(1, 4)]
    with pytest.raises(InputError, match="BASE lacks 1 of 3 items of NEW"):
        paired(base, outputs(*more, name="NEW"))


def test_items_that_both_have_may_be_enough():
    base = outputs(*({"hypothesis": "a", "item": i} for i in "123"))
    new = outputs(*({"hypothesis": "a", "item": i} for i in "423"), name="NEW")
    old, fresh = paired(base, new, common=True)
    assert [*old.items] == [*fresh.items] == ["2", "3"]
    assert old.notes == ("only 2 items that both sides have are judged, of 3 in BASE and 3 in NEW",)
    mended = outputs(*({"hypothesis": "a", "item": i, "references": (i,)} for i in "12"))
    other = outputs(*({"hypothesis": "a", "item": i, "references": ("2",)} for i in "12"), name="NEW")
    assert [*paired(mended, other, common=True)[1].items] == ["2"]  # 1 has another reference
    assert paired(base, base, common=True)[0].notes == ()


def test_other_references_are_another_set():
    base = outputs({"hypothesis": "a", "item": "1", "references": ("x",)})
    with pytest.raises(InputError, match="item '1' has other references"):
        paired(base, outputs({"hypothesis": "a", "item": "1", "references": ("y",)}, name="NEW"))
    rows = [{"hypothesis": "a", "item": str(i), "references": ("x",)} for i in range(3)]
    last = [*rows[:2], {**rows[2], "references": ("y",)}]
    with pytest.raises(InputError, match="item '2' has other references"):  # every item is looked at
        paired(outputs(*rows), outputs(*last, name="NEW"))
    filled, _ = paired(outputs({"hypothesis": "a", "item": "1"}), base)
    assert filled.segments[0].references == ("x",)


def test_groups_are_clusters_where_there_are_several():
    assert clusters_of(["a", "a", "b"]) == ["group a", "group a", "group b"]
    assert clusters_of(["a", "a"]) is None
    assert clusters_of(["a", "b"]) is None
    assert clusters_of([None, None]) is None
