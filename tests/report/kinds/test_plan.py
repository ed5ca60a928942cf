from nlgauge.core.result import Result
from nlgauge.report.kinds.plan import plan_html, plan_tables
from nlgauge.report.text import render


def system(name, value, rank_best, rank_worst, n_plain=7.6):
    ends = {"low": value - 0.5, "high": value + 0.5, "rank_best": rank_best, "rank_worst": rank_worst}
    return {
        "system": name,
        "against": None,
        "criterion": "adequacy",
        "value": value,
        **ends,
        "n": 6,
        "n_plain": n_plain,
    }


ROWS = [
    system("a", 4.0, 1, 2),
    system("b", 3.5, 1, 2),
    system("c", 1.0, 3, 3, float("nan")),
    {"system": "a", "against": "b", "value": 0.5, "low": -0.1, "high": 1.1, "lead": 0.871, "n": 6},
    {"system": "a", "against": "c", "value": 3.0, "low": 2.0, "high": 4.0, "lead": 0.999, "n": 6},
    {"system": "b", "against": "c", "value": 2.5, "low": 2.0, "high": 3.0, "lead": 0.998, "n": 6},
    {"seg": "x", "order": 1, "probability": 0.5, "round": 1, "rated": True},
    {"seg": "y", "order": 2, "probability": 0.25, "round": 1, "rated": False},
]


def test_tables():
    ranking, leads, items = plan_tables(Result("plan", ROWS), 2)
    assert ranking.body == (
        ("a", "1-2", "4.00 [3.50, 4.50]", "6", "8"),
        ("b", "1-2", "3.50 [3.00, 4.00]", "6", "8"),
        ("c", "3", "1.00 [0.50, 1.50]", "6", ""),
    )
    assert leads.header == ("", "b", "c")
    assert leads.body == (("a", "0.87", "1.00"), ("b", "", "1.00"))
    assert items.body == (("2", "y", "0.250"),)
    assert items.title == "items to rate next"


def test_a_long_plan_is_shown_in_part():
    rows = [{"seg": str(i), "order": i, "probability": 0.5, "round": 1, "rated": False} for i in range(1, 31)]
    (items,) = plan_tables(Result("plan", rows))
    assert items.title == "the first 10 of 30 items to rate next"
    assert len(items.body) == 10
    assert render(Result("plan", rows), "tsv").count("\n") == 30


METRICS = ({"spec": "chrf", "signature": "metric:chrf", "higher_is_better": True, "flags": {}},)


def test_a_page_of_systems_and_items():
    rows = [
        {
            "system": "<a>", "against": None, "criterion": "adequacy", "value": 4.0, "low": 3.5, "high": 4.5,
            "rank_best": 1, "rank_worst": 2, "n": 6, "n_plain": 8.0,
        },
        {"seg": "item 7", "order": 1, "probability": 0.5, "round": 1, "rated": False},
    ]  # fmt: skip
    page = plan_html(Result("plan", rows, (), METRICS, ["a note"]))
    for text in ("&lt;a&gt;", "3.500 to 4.500", "1-2", "item 7", "from 6 rated items", "a note", "<svg"):
        assert text in page
    assert "<script" not in page


def test_a_page_before_anything_is_rated():
    page = plan_html(Result("plan", [{"seg": "7", "order": 1, "probability": 0.5, "round": 1, "rated": False}]))
    assert "items to rate next" in page
    assert "if all items were rated" not in page
