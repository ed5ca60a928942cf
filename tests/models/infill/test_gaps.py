from nlgauge.models.infill.gaps import Filler, Gap, Infill
from nlgauge.perturbations.synthesis import infill


class Echo:
    def fill(self, gaps, k):
        return [[Filler(gap.text[gap.start : gap.end], 0.0)][:k] for gap in gaps]


def test_whatever_has_fill_fills_gaps():
    assert isinstance(Echo(), Infill)
    assert not isinstance("infill", Infill)
    assert Echo().fill([Gap("a red boat", 2, 5), Gap("a boat", 2, 2)], 1) == [[("red", 0.0)], [("", 0.0)]]


def test_perturbations_speak_of_the_same_gaps():
    assert (infill.Gap, infill.Filler, infill.Infill) == (Gap, Filler, Infill)
