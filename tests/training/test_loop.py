"""The training loop: batches, steps, checkpoints, development sets, cores side by side, and the best weights."""

import math
from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.training.examples import Example
from nlgauge.training.loop import (
    BestWeights,
    Checkpoint,
    Cores,
    Dev,
    alone,
    cores,
    fit,
    held_out,
    shuffled_batches,
)
from nlgauge.training.recipe import Schedule


@given(st.lists(st.integers(3, 60), min_size=1, max_size=300), st.integers(1, 40), st.integers(0, 3), st.integers(0, 2))
def test_a_pass_takes_each_pair_once(lengths, size, seed, epoch):
    batches = shuffled_batches(np.array(lengths), size, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert max(map(len, batches)) <= size
    assert len(batches) == -(-len(lengths) // size)


def test_little_goes_into_padding():
    lengths = np.random.default_rng(0).integers(8, 80, 20_000)
    batches = shuffled_batches(lengths, 32, 0, 0)
    padded = sum(len(b) * lengths[b].max() for b in batches)
    assert padded / lengths.sum() < 1.05  # in a random order the longest of 32 is almost twice as long as their mean


def test_the_order_is_made_by_seed_and_pass():
    lengths = np.arange(500) % 37
    first = shuffled_batches(lengths, 16, 1, 0)
    assert all(np.array_equal(a, b) for a, b in zip(first, shuffled_batches(lengths, 16, 1, 0), strict=True))
    for seed, epoch in ((1, 1), (2, 0)):
        assert not all(
            np.array_equal(a, b) for a, b in zip(first, shuffled_batches(lengths, 16, seed, epoch), strict=True)
        )


LENGTHS = np.full(40, 7)
SCHEDULE = Schedule(epochs=3, batch_size=8, learning_rate=0.1, warmup=0.2, weight_decay=0.0, seed=5)  # 15 steps


def problem():
    """Points on a line, and dropout in the loss, so that the draws of a step matter."""
    x = torch.linspace(-1, 1, len(LENGTHS))
    weights = {"slope": torch.nn.Parameter(torch.zeros(1)), "shift": torch.nn.Parameter(torch.zeros(1))}

    def loss(where):
        kept = torch.nn.functional.dropout(x[torch.from_numpy(where)], 0.2)
        return ((weights["slope"] * kept + weights["shift"] - 2 * kept - 1) ** 2).mean()

    return weights, loss


def trained(checkpoint=None, stop=None, schedule=SCHEDULE):
    weights, loss = problem()
    done = []

    def advance(count):
        done.append(count)
        if stop is not None and sum(done) == stop:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        fit(weights, loss, LENGTHS, schedule, checkpoint, advance)
    return {name: parameter.item() for name, parameter in weights.items()}, sum(done)


def test_the_rate_rises_and_falls_in_lines():
    # ten steps, two of them warm-up: a half, the whole; then down by ninths, to reach 0 behind the last step
    rates = [Schedule(learning_rate=9.0, warmup=0.2).rate(step, 10) for step in range(10)]
    assert rates == pytest.approx([4.5, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    constant = Schedule(learning_rate=2.0, warmup=0.5, constant=True)
    assert [constant.rate(step, 4) for step in range(4)] == [1.0, 2.0, 2.0, 2.0]


def test_the_minimum_is_found():
    weights, _ = trained(schedule=Schedule(epochs=60, batch_size=8, learning_rate=0.1, weight_decay=0.0))
    assert weights == pytest.approx({"slope": 2, "shift": 1}, abs=0.02)  # the rate ends at 0, what it leaves is small
    assert trained() == trained()
    assert trained() != trained(schedule=Schedule(**{**vars(SCHEDULE), "seed": 6}))


@pytest.mark.parametrize("killed_at", [1, 4, 6, 14])
def test_a_run_that_was_killed_goes_on_to_the_same_weights(tmp_path, killed_at):
    whole, _ = trained()
    kept = Checkpoint(path=tmp_path / "c", run="this", every=2)
    trained(kept, stop=killed_at)
    assert kept.path.exists() == (killed_at > 2)  # a checkpoint is written behind the step that is told
    again, told = trained(kept)
    assert again == whole  # to the last bit
    assert told == 15  # what was done before is told, too
    kept.done()
    assert list(tmp_path.iterdir()) == []


def test_the_callers_random_numbers_are_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first = torch.rand(1)
    trained()
    assert torch.cat([first, torch.rand(1)]).equal(expected)


def test_a_checkpoint_of_another_run_is_refused_and_says_what_differs(tmp_path):
    trained(Checkpoint(path=tmp_path / "c", run='{"rank": 8, "seed": 1}', every=2), stop=5)
    with pytest.raises(InputError, match=r"is of another run \(rank differ\); delete .*c to begin anew"):
        trained(Checkpoint(path=tmp_path / "c", run='{"rank": 4, "seed": 1}'))
    (tmp_path / "c").write_bytes(b"no tensors")
    with pytest.raises(InputError, match="cannot be read"):
        trained(Checkpoint(path=tmp_path / "c", run="this"))


def test_a_loss_that_is_no_number_stops_the_run():
    weights, _ = problem()
    with pytest.raises(InputError, match="the loss is nan at step 1; try a lower learning rate"):
        fit(weights, lambda where: weights["slope"].sum() * float("nan"), LENGTHS, SCHEDULE)


def test_schedules_that_cannot_be_are_refused_by_name():
    wrong = [("epochs", 0), ("batch_size", 0), ("learning_rate", 0.0), ("warmup", 2), ("seed", -1), ("seed", 1 << 32)]
    for name, value in wrong:  # torch or numpy would refuse the seeds
        with pytest.raises(InputError, match=f"{name} is {value}, expected "):
            Schedule(**{name: value})


def test_two_trainings_of_one_output_are_refused(tmp_path):
    @alone
    def train(data, output):
        if data:
            train(data - 1, output=output)
        return output

    with pytest.raises(InputError, match="another run is making"):
        train(1, tmp_path / "head.safetensors")
    assert train(0, tmp_path / "head.safetensors") == tmp_path / "head.safetensors"
    assert list(tmp_path.iterdir()) == []


def example(score, owner, ref="r"):
    return Example({"hyp": f"h{owner}", "ref": ref}, score, owner)


def test_a_segment_counts_once_with_the_mean_of_its_references():
    dev = Dev("d", [example(1.0, 0), example(1.0, 0), example(2.0, 1), example(3.0, 2)])
    owners = np.array([0, 0, 1, 2])
    # means 2, 3, 1 against 1, 2, 3: one pair of three agrees, (1 - 2) / 3
    assert dev.measure(np.array([1.0, 3.0, 3.0, 1.0]), owners) == pytest.approx(-1 / 3)


def test_agreement_is_the_mean_of_the_groups_that_tell():
    examples = [example(1.0, 0), example(2.0, 1), example(1.0, 2), example(2.0, 3), example(5.0, 4)]
    dev = Dev("d", examples, "pearson", lambda owner: owner // 2)
    # the first group agrees, the second does not, the third holds one segment and says nothing
    assert dev.measure(np.array([1.0, 2.0, 2.0, 1.0, 0.0]), np.arange(5)) == pytest.approx(0.0)
    assert dev.measure(np.array([1.0, 2.0, 1.0, 3.0, 0.0]), np.arange(5)) == pytest.approx(1.0)
    assert np.isnan(Dev("d", examples, "pearson", lambda owner: owner).measure(np.arange(5.0), np.arange(5)))


def test_no_reference_stands_on_both_sides():
    examples = [example(-float(i % 4), i, f"r{i // 4}") for i in range(80)]
    learnt, dev = held_out(examples, 0.1, 0)
    assert len(dev.examples) == 8  # two of twenty references
    assert not {e.texts["ref"] for e in learnt} & {e.texts["ref"] for e in dev.examples}
    assert sorted(e.owner for e in [*learnt, *dev.examples]) == list(range(80))
    assert held_out(examples, 0.1, 0)[0] == learnt
    assert held_out(examples, 0.1, 1)[0] != learnt
    assert len(held_out(examples, 0.001, 0)[1].examples) == 4  # never less than one reference
    with pytest.raises(InputError, match="give --dev, or --held-out 0"):
        held_out([example(0.0, 0), example(1.0, 1)], 0.1, 0)


@pytest.mark.parametrize("stat", ["soft_pairwise_accuracy", "pairwise_accuracy", "rr_kendall"])
def test_one_score_and_statistics_of_systems_or_preferences_choose_no_weights(stat):
    with pytest.raises(InputError, match=r"d: a development set of 2 examples of one score .*--held-out 0 \(in Python"):
        Dev("d", [example(1.0, 0), example(1.0, 1)])
    with pytest.raises(InputError, match=f"{stat} is no agreement of segments"):
        Dev("d", [example(0.0, 0), example(1.0, 1)], stat)
    with pytest.raises(InputError, match="did you mean 'kendall_b'"):
        Dev("d", [example(0.0, 0), example(1.0, 1)], "kendal_b")


def test_pairs_are_those_of_one_source_and_of_a_threshold():
    # sources 0 1, 2 3: the first pair is ordered as rated, the second is not, and no other two are compared
    examples = [example(0.0, 0), example(-5.0, 1), example(-1.0, 2), example(-2.0, 3)]
    scores, owners = np.array([4.0, 3.0, 1.0, 2.0]), np.arange(4)

    def measured(threshold):
        return Dev("d", examples, "wmt_kendall_like", items=lambda owner: owner // 2, threshold=threshold).measure(
            scores, owners
        )

    assert measured(0.0) == 0.0
    assert measured(3.0) == 1.0
    with pytest.raises(InputError, match=r"no two outputs for one input are rated 25 apart.*--threshold"):
        measured(None)
    with pytest.raises(InputError, match=r"rated differently.*give several rated outputs for an input"):
        Dev("d", examples, "wmt_kendall_like", items=lambda owner: owner, threshold=0.0)
    with pytest.raises(InputError, match="does not say which"):
        Dev("d", examples, "wmt_kendall_like", threshold=0.0)
    with pytest.raises(InputError, match="kendall_b has no threshold"):
        Dev("d", examples, threshold=0.0)


def test_of_hypotheses_alone_equal_ones_stay_together():
    # as for a sentinel of the hypothesis, which has no reference to tell examples apart by
    examples = [Example({"hyp": f"h{i // 2}"}, float(i), i) for i in range(20)]
    learnt, dev = held_out(examples, 0.2, 0)
    assert len(dev.examples) == 4
    assert not {e.texts["hyp"] for e in learnt} & {e.texts["hyp"] for e in dev.examples}
    with pytest.raises(InputError, match="the examples have one hypothesis"):
        held_out(examples[:2], 0.2, 0)


def test_what_chooses_beside_the_examples_is_told():
    examples = [example(0.0, 0), example(-5.0, 1), example(-1.0, 2), example(-2.0, 3)]
    assert Dev("d", examples).chooses_by == ()

    def chosen(threshold=0.0, groups=lambda owner: "de-en", items=lambda owner: owner // 2):
        return Dev("d", examples, "wmt_kendall_like", groups, items, threshold).chooses_by

    others = [chosen(3.0), chosen(groups=lambda owner: str(owner // 2)), chosen(items=lambda owner: 0)]
    assert len({chosen(), *others}) == 4
    assert Dev("d", examples, groups=lambda owner: owner // 2).chooses_by


CPU = torch.device("cpu")


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def passed(run):
    torch.manual_seed(0)
    layer, unused = torch.nn.Linear(4, 3), torch.nn.Linear(2, 2)
    blocks = [torch.randn(n, 4) for n in (1, 5, 2)]
    parameters = [*layer.parameters(), *unused.parameters()]
    out = run.together([lambda block=block: torch.tanh(layer(block)) for block in blocks], parameters)
    (out * torch.arange(24.0).view(8, 3)).sum().backward()
    return out.detach(), layer.weight.grad, layer.bias.grad, unused.weight.grad


def test_threads_say_and_learn_what_one_pass_does(two_threads):
    with cores(CPU) as several:
        found, again = passed(several), passed(several)
        assert torch.get_num_threads() == 1
    assert all(torch.equal(a, b) for a, b in zip(found[:3], again[:3], strict=True))  # to the last bit
    assert torch.get_num_threads() == 2
    expected = passed(Cores(None))
    assert torch.allclose(found[0], expected[0], rtol=1e-6)  # float32 on one core or two
    for one, other in zip(found[1:3], expected[1:3], strict=True):
        assert torch.allclose(one, other, rtol=1e-5)  # float32: three sums instead of one
    assert found[3] is expected[3] is None  # what no part uses has no gradient


def test_without_gradients_none_are_made_and_what_fails_in_a_thread_fails_here(two_threads):
    def fail():
        raise ValueError("in a part")

    with cores(CPU) as several, pytest.raises(ValueError, match="in a part"):
        several.together([fail, fail], [])
    assert torch.get_num_threads() == 2
    layer = torch.nn.Linear(2, 2).requires_grad_(False)
    with cores(CPU) as several:
        out = several.together([lambda: layer(torch.ones(1, 2))] * 2, list(layer.parameters()))
    assert not out.requires_grad


def watched(values, every=2, steps=5):
    weights = {"w": torch.nn.Parameter(torch.zeros(1))}
    told = iter(values)
    return weights, BestWeights(weights, lambda: next(told), every, steps)


def go(weights, best, first, last):
    for step in range(first, last + 1):
        weights["w"].data.fill_(step)
        best.after(step, step / 8)


@pytest.mark.parametrize(
    ("values", "best", "kept"),
    [
        ([0.1, 0.3, 0.2], (4, 0.3), 4),
        ([0.3, 0.3, 0.1], (2, 0.3), 2),  # the first of equals
        ([math.nan, -0.2, math.nan], (4, -0.2), 4),
        ([math.nan, math.nan, math.nan], None, 5),  # nothing was defined: the last weights stay
    ],
)
def test_the_best_weights_are_put_in_place(values, best, kept):
    weights, watch = watched(values)
    go(weights, watch, 1, 5)
    assert list(watch.evaluated) == [2, 4, 5]  # every second, and the last
    assert watch.best == best
    watch.settle()
    assert weights["w"].item() == kept


def test_without_an_evaluation_the_last_weights_stay(tmp_path):
    weights = {"w": torch.nn.Parameter(torch.zeros(1))}
    watch = BestWeights(weights, None, 2, 3)
    go(weights, watch, 1, 3)
    watch.settle()
    assert (weights["w"].item(), watch.best) == (3, None)
    watch.write(str(tmp_path / "c.tsv"))
    assert (tmp_path / "c.tsv").read_text() == "step\tloss\tdev\n1\t0.125\t\n2\t0.25\t\n3\t0.375\t\n"


def test_what_is_remembered_goes_through_a_checkpoint(tmp_path):
    weights, whole = watched([0.3, math.nan, 0.1])
    go(weights, whole, 1, 5)
    weights, before = watched([0.3])
    go(weights, before, 1, 3)
    weights, after = watched([math.nan, 0.1])
    after.restore(before.state())
    go(weights, after, 4, 5)
    assert (after.losses, str(after.evaluated), after.best) == (whole.losses, str(whole.evaluated), whole.best)
    after.settle()
    assert weights["w"].item() == 2
    after.write(str(tmp_path / "c.tsv"))
    assert (tmp_path / "c.tsv").read_text().splitlines()[1:] == [
        "1\t0.125\t",
        "2\t0.25\t0.3",
        "3\t0.375\t",
        "4\t0.5\t",
        "5\t0.625\t0.1",
    ]
