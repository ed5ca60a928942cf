"""Jobs side by side: in order, each on one core, and nothing of torch's settings left changed."""

import json
import shutil
import threading

import numpy as np
import pytest
from tests.models.conftest import changed, encoder, forward, states

from nlgauge.core.errors import InputError
from nlgauge.models.hub import side_by_side
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import TextTokenizer

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


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


# hidden_states[layer] is the cut model's output where every block ends in its norm
POST_NORM = [
    "distilbert", "albert", "albert, two groups", "electra", "mpnet", "deberta", "deberta-v2", "xlnet", "xlm", "bart",
    "bert", "roberta",
]  # fmt: skip
PRE_NORM = {"t5": "final_layer_norm", "t5, bytes": "final_layer_norm", "mbart": "layer_norm", "gpt2": "ln_f"}
PRE_NORM["modernbert"] = "final_norm"
LENGTHS = [1, 4, 4, 4, 11]
CLOSE = 5e-6  # float32 of norm about 6 after three layers


def hub(folder, dtype=torch.float32):
    from nlgauge.models.hub import HubNetwork

    return HubNetwork(ModelFiles("tiny", folder, ""), dtype, torch.device("cpu"))


def sequences(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(5, 40, size=n) for n in LENGTHS]


@pytest.mark.parametrize("kind", POST_NORM)
def test_a_model_cut_after_a_layer_gives_that_layers_hidden_states(tiny_model, kind):
    texts = sequences()
    expected = states(encoder(tiny_model(kind)), texts)
    network = hub(tiny_model(kind))
    assert network.width == 32
    for layer in [*range(network.depth + 1), 1]:  # and once more: the model was whole again after each
        torch.testing.assert_close(forward(network, texts, layer), expected[layer], atol=CLOSE, rtol=0)


@pytest.mark.parametrize("kind", PRE_NORM)
def test_a_model_that_ends_in_a_norm_has_it_applied_to_the_layer_asked_for(tiny_model, kind):
    texts = sequences()
    model = encoder(tiny_model(kind))
    norm = getattr(model, PRE_NORM[kind])
    *layers, last = states(model, texts)
    network = hub(tiny_model(kind))
    for layer, raw in enumerate(layers):
        expected = norm(raw).detach()
        torch.testing.assert_close(forward(network, texts, layer), expected, atol=CLOSE, rtol=0)
        assert (expected - raw).abs().max() > 0.01  # that is not the hidden state itself
    torch.testing.assert_close(forward(network, texts, network.depth), last, atol=CLOSE, rtol=0)


def test_several_layers_are_those_of_the_model_cut_after_each(tiny_model):
    network, texts = hub(tiny_model("t5")), sequences()
    layers = (3, 0, 1)  # in any order
    with torch.inference_mode(), network.cut_each(layers) as run:
        found = run(texts)
    for layer, vectors in zip(layers, found, strict=True):
        torch.testing.assert_close(vectors, forward(network, texts, layer), atol=CLOSE, rtol=0)


def test_precision_is_the_one_asked_for(tiny_model):
    network = hub(tiny_model("distilbert"), torch.bfloat16)
    assert forward(network, sequences(), 2).dtype == torch.bfloat16


def test_code_that_comes_with_a_model_is_not_run(tiny_model, tmp_path):
    folder = changed(
        tiny_model("distilbert"),
        tmp_path / "code",
        {"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModel": "own.M"}},
    )
    proof = tmp_path / "run"
    (folder / "own.py").write_text(f"open({str(proof)!r}, 'w')\n", encoding="utf-8")
    with pytest.raises(InputError, match="'tiny' cannot be loaded from") as refused:
        hub(folder)
    assert "\n" not in str(refused.value)
    assert not proof.exists()


def test_weights_that_do_not_fill_the_model_are_refused(tiny_model, tmp_path):
    # transformers would make up the rest at random, and every process would score otherwise
    folder = changed(tiny_model("distilbert"), tmp_path / "part", keep=lambda key: "layer.1." not in key)
    with pytest.raises(InputError, match=r"the weights hold no transformer\.layer\.1\.\S+ \(16 missing\)"):
        hub(folder)


def test_a_pooler_that_was_never_saved_is_not_missed(tiny_model, tmp_path):
    # sequence vectors are not ours to use; masked language models are saved without
    folder = changed(tiny_model("electra"), tmp_path / "whole")
    bare = changed(tiny_model("bert"), tmp_path / "bare", keep=lambda key: "pooler" not in key)
    assert hub(folder).depth == hub(bare).depth == 3


def test_a_decoder_that_was_never_saved_is_not_missed(tiny_model, tmp_path):
    folder = changed(tiny_model("t5"), tmp_path / "half", keep=lambda key: not key.startswith("decoder."))
    texts = sequences()
    torch.testing.assert_close(
        forward(hub(folder), texts, 2), forward(hub(tiny_model("t5")), texts, 2), atol=CLOSE, rtol=0
    )


def test_an_encoder_saved_alone_gives_the_vectors_of_the_whole_model(tiny_model, tmp_path):
    from transformers import T5EncoderModel

    folder = shutil.copytree(tiny_model("t5"), tmp_path / "encoder")
    T5EncoderModel.from_pretrained(folder).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["T5EncoderModel"]
    texts = sequences()
    torch.testing.assert_close(
        forward(hub(folder), texts, 2), forward(hub(tiny_model("t5")), texts, 2), atol=CLOSE, rtol=0
    )


def test_weights_that_transformers_leaves_aside_are_refused(tiny_model, tmp_path):
    # transformers 5 knows no relative positions of BERT any more, and would load the rest with a warning
    relative = {f"encoder.layer.{n}.attention.self.distance_embedding.weight": torch.zeros(95, 8) for n in range(3)}
    folder = changed(
        tiny_model("bert"), tmp_path / "relative", {"position_embedding_type": "relative_key"}, more=relative
    )
    with pytest.raises(
        InputError, match=r"no place for encoder\.layer\.0\.attention\.self\.distance_embedding\.weight"
    ):
        hub(folder)


def test_a_head_and_layers_beyond_the_configured_depth_are_no_loss(tiny_model, tmp_path):
    head = {"vocab_projector.weight": torch.zeros(3, 3)}
    folder = changed(tiny_model("distilbert"), tmp_path / "cut", {"n_layers": 2}, more=head)
    texts = sequences()
    torch.testing.assert_close(
        forward(hub(folder), texts, 2), forward(hub(tiny_model("distilbert")), texts, 2), atol=CLOSE, rtol=0
    )


def test_a_model_whose_blocks_are_not_found_is_refused_by_its_type(tiny_model, monkeypatch):
    monkeypatch.setattr("nlgauge.models.hub._STACKS", ("stages",))
    with pytest.raises(InputError, match="model type 'distilbert' is not known here: no stack of 3 blocks was found"):
        hub(tiny_model("distilbert"))


def test_code_in_a_models_folder_is_never_run(tiny_model, tmp_path):
    own = {"AutoConfig": "own.Config", "AutoModel": "own.Model", "AutoTokenizer": ["own.Tokenizer", None]}
    folder = changed(tiny_model("mpnet"), tmp_path / "model", config={"auto_map": own})
    proof = tmp_path / "run"
    (folder / "own.py").write_text(f"open({str(proof)!r}, 'w')\nConfig = Model = Tokenizer = None\n", encoding="utf-8")
    hub(folder)
    TextTokenizer(ModelFiles("tiny", folder, ""))
    assert not proof.exists()
    exec((folder / "own.py").read_text(encoding="utf-8"))
    assert proof.exists()  # the trap works


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_family_of_float32_alone_is_refused_in_another_precision(tiny_model, dtype):
    name = str(dtype).removeprefix("torch.")
    with pytest.raises(InputError, match=rf"computes in float32 alone; use dtype=float32 in place of {name}"):
        hub(tiny_model("xlnet"), dtype)
