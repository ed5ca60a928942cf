"""Leads of answers: plain logits of transformers, one sequence at a time."""

import numpy as np
import pytest

from nlgauge.models.infill.cloze import Cloze, leads
from nlgauge.models.infill.files import locate_infill
from nlgauge.models.infill.filler import masked_model
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")

ROWS = [([2, 4, 3], [1]), ([2, 5, 4, 7, 3], [1, 3]), ([2, 4, 7, 8, 3], [1, 2, 3]), ([2, 6, 4, 8, 9, 10, 3], [2, 5])]


def clozes(mask):
    made = []
    for row, places in ROWS:
        ids, places = np.array(row, dtype=np.int64), np.array(places, dtype=np.int64)
        answers = ids[places]
        ids[places] = mask
        made.append(Cloze(ids, places, answers))
    return made


@pytest.mark.parametrize("kind", ["bert", "roberta", "electra"])
def test_leads_are_differences_of_logits_whatever_the_company(tiny_masked, kind):
    from transformers import AutoModelForMaskedLM

    folder = str(tiny_masked(kind))
    model = masked_model(locate_infill(folder), "float32", Runtime(device="cpu"))
    asked = clozes(model.tokenizer.mask)
    plain = AutoModelForMaskedLM.from_pretrained(folder).eval()
    expected = []
    for ids, places, answers in asked:
        with torch.inference_mode():
            logits = plain(input_ids=torch.from_numpy(ids)[None]).logits[0]
        for place, answer in zip(places, answers, strict=True):
            row = logits[place].tolist()
            expected.append(row[answer] - max(value for piece, value in enumerate(row) if piece != answer))
    done = []
    for budget in (None, 1):
        found = leads(model, [*asked, asked[1]], budget, done.append)
        assert np.concatenate(found[:-1]) == pytest.approx(expected, abs=1e-4)  # float32, logits of some 10
        assert found[-1] == pytest.approx(found[1], abs=0)  # equal ones are run once
    assert sum(done) == 2 * (len(asked) + 1)


def test_close_calls_are_settled_alone(tiny_masked, monkeypatch):
    model = masked_model(locate_infill(str(tiny_masked("bert"))), "float32", Runtime(device="cpu"))
    asked = clozes(model.tokenizer.mask)
    shapes = []
    own = model.network.logits
    monkeypatch.setattr(
        model.network, "logits", lambda ids, rows, places: (shapes.append(len(ids)), own(ids, rows, places))[1]
    )
    leads(model, asked)
    assert shapes == [4]
    monkeypatch.setattr("nlgauge.models.infill.cloze.margin", lambda dtype: 1e9)
    leads(model, asked)
    assert shapes[1:] == [4, 1, 1, 1, 1]
    model.dtype = "bfloat16"
    leads(model, asked)
    assert shapes[6:] == [1, 1, 1, 1]


def test_nothing_asked_loads_nothing(tiny_masked):
    model = masked_model(locate_infill(str(tiny_masked("bert"))), "float32", Runtime(device="cpu"))
    assert leads(model, []) == []
    assert "network" not in vars(model)
