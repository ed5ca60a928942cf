"""Jobs side by side: in order, each on one core, and nothing of torch's settings left changed."""

import threading

import pytest

pytest.importorskip("torch")

import torch

from nlgauge.models.workers import side_by_side


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def test_results_come_in_the_order_of_the_jobs(four_threads):
    assert list(side_by_side(lambda job: job * job, range(50), torch.device("cpu"))) == [job * job for job in range(50)]


def test_each_job_has_one_core_and_no_gradients(four_threads):
    def work(job):
        return (
            torch.get_num_threads(),
            torch.is_inference_mode_enabled(),
            threading.current_thread() is threading.main_thread(),
        )

    assert set(side_by_side(work, range(8), torch.device("cpu"))) == {(1, True, False)}


def test_torch_has_its_threads_back(four_threads):
    list(side_by_side(abs, [1, 2, 3], torch.device("cpu")))
    seen = []
    other = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    other.start()
    other.join()
    assert (torch.get_num_threads(), seen) == (4, [4])


def test_an_error_comes_out_and_what_waits_is_left(four_threads):
    done = []

    def work(job):
        if job == 3:
            raise RuntimeError("job 3")
        done.append(job)

    with pytest.raises(RuntimeError, match="job 3"):
        list(side_by_side(work, range(10_000), torch.device("cpu")))
    assert len(done) < 9_999
    assert torch.get_num_threads() == 4


@pytest.mark.parametrize(("jobs", "device"), [([1], "cpu"), ([1, 2], "meta"), ([], "cpu")])
def test_a_single_job_or_another_device_runs_here(four_threads, jobs, device):
    def work(job):
        return threading.current_thread() is threading.main_thread() and torch.is_inference_mode_enabled()

    assert list(side_by_side(work, jobs, torch.device(device))) == [True] * len(jobs)


def test_a_single_job_has_one_core_if_asked(four_threads):
    assert list(side_by_side(lambda job: torch.get_num_threads(), [1], torch.device("cpu"), one_core=True)) == [1]
    assert torch.get_num_threads() == 4


def test_with_one_thread_nothing_is_started(four_threads):
    torch.set_num_threads(1)
    assert list(
        side_by_side(lambda job: threading.current_thread() is threading.main_thread(), [1, 2], torch.device("cpu"))
    ) == [True, True]
