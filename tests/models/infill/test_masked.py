"""Masked language models as networks.

Our forward pass and transformers' agree, whole vocabulary, whoever shares the batch.
"""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.models.heads import find_head
from nlgauge.models.locate import locate

torch = pytest.importorskip("torch")

from nlgauge.models.infill import masked  # noqa: E402  needs torch
from nlgauge.models.infill.masked import HubMasked, PackedMasked, headed_mask, masked_network  # noqa: E402

CPU = torch.device("cpu")
IDS = [np.array(row, dtype=np.int64) for row in ([2, 4, 3], [2, 5, 4, 3], [2, 4, 7, 3], [2, 6, 4, 8, 9, 3])]
PLACES = [1, 2, 1, 2]


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
def test_the_packed_pass_is_transformers_own(tiny_masked, kind):
    files = locate(str(tiny_masked(kind)))
    packed = masked_network(files, torch.float32, CPU)
    assert isinstance(packed, PackedMasked)
    with torch.inference_mode():
        ours, theirs = packed.at(IDS, PLACES), HubMasked(files, torch.float32, CPU).at(IDS, PLACES)
    assert torch.allclose(ours, theirs, atol=1e-4)  # float32, sums in another order
    assert torch.allclose(ours.exp().sum(1), torch.ones(len(IDS)), atol=1e-5)


@pytest.mark.parametrize("kind", ["distilbert", "electra", "albert", "mpnet", "deberta-v2"])
def test_only_masks_are_held_against_the_vocabulary(tiny_masked, kind):
    network = HubMasked(locate(str(tiny_masked(kind))), torch.float32, CPU)
    seen = []
    network.model.get_output_embeddings().register_forward_hook(
        lambda module, given, out: seen.append(tuple(given[0].shape[:2]))
    )
    with torch.inference_mode():
        network.at(IDS, PLACES)
    assert seen == [(1, 1), (2, 1), (1, 1)]  # three lengths, one place of each sequence


def test_a_mask_does_not_depend_on_how_many_there_are(tiny_masked, monkeypatch):
    packed = masked_network(locate(str(tiny_masked("bert"))), torch.float32, CPU)
    with torch.inference_mode():
        together = packed.at(IDS, PLACES)
        monkeypatch.setattr(masked, "_ROWS", 3)  # two blocks, the last filled up
        assert torch.allclose(packed.at(IDS, PLACES), together, atol=1e-5)
        alone = torch.cat([packed.at([ids], [place]) for ids, place in zip(IDS, PLACES, strict=True)])
    assert torch.allclose(alone, together, atol=1e-5)


def test_word_vectors_of_their_own_go_through_transformers(tiny_masked, tmp_path):
    import json
    import shutil

    folder = tmp_path / "untied"
    shutil.copytree(tiny_masked("bert"), folder)
    config = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": False}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        InputError, match=r"the weights hold no .*decoder"
    ):  # tied ones were saved: there are no others to load
        masked_network(locate(str(folder)), torch.float32, CPU)


def _head(tiny_head, **options):
    return find_head(str(tiny_head(kind="infill", **options)), "infill")


def test_a_head_that_lacks_a_part_is_refused(tiny_head):
    with pytest.raises(InputError, match=r"holds no dense\.weight"):
        headed_mask(_head(tiny_head), torch.float32, CPU)
