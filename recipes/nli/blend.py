"""Between two heads of one origin: python blend.py FIRST SECOND SHARE OUT [--level PAIRS] [--rank N]

What the adapters add to a weight, and the classifier, become (1 - SHARE) of the first head's and SHARE of the second's.
The sum of updates of ranks r and s is kept as one of rank r + s, exactly. Wortsman et al. (2022), "Robust fine-tuning
of zero-shot models". The metadata are the second's.

PAIRS: what the second was trained on. Its bias is first put to where labels of equal frequency would have it (Menon et
al. 2021, "Long-tail learning via logit adjustment", equation 9). N: a lower rank for the sum.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open

from nlgauge.io import InputFile
from nlgauge.models.heads import widened
from nlgauge.training.heads import write_head
from nlgauge.training.nli import read_pairs

Tensors = dict[str, torch.Tensor]


def read(path: str) -> tuple[Tensors, dict[str, str]]:
    with safe_open(path, framework="pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        return dict(widened(tensors, Path(path))), file.metadata()


def between(first: Tensors, second: Tensors, share: float) -> Tensors:
    made = {}
    for name, tensor in second.items():
        if name.endswith(".lora_a"):
            made[name] = torch.cat([first[name], tensor])
        elif name.endswith(".lora_b"):
            made[name] = torch.cat([((1 - share) * first[name].float()).half(), (share * tensor.float()).half()], dim=1)
        else:
            made[name] = (1 - share) * first[name] + share * tensor
    return made


def of_rank(tensors: Tensors, rank: int) -> Tensors:
    """The same head with updates of at most this rank, the nearest ones in the sum of squares (truncated SVD)."""
    made = dict(tensors)
    for name in [name for name in tensors if name.endswith(".lora_a") and len(tensors[name]) > rank]:
        partner = name.removesuffix("a") + "b"
        left, sizes, right = torch.linalg.svd(tensors[partner].float() @ tensors[name].float(), full_matrices=False)
        root = sizes[:rank].sqrt()  # in halves on both sides, so that neither leaves the range of float16
        made[name] = (root[:, None] * right[:rank]).half().contiguous()
        made[partner] = (left[:, :rank] * root).half().contiguous()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("share", type=float)
    parser.add_argument("out")
    parser.add_argument("--level", metavar="PAIRS")
    parser.add_argument("--rank", type=int)
    given = parser.parse_args()
    (first, origin), (second, about) = read(given.first), read(given.second)
    if given.level:
        frequency = np.bincount([pair.label for pair in read_pairs(InputFile(given.level))], minlength=3)
        second["classifier.bias"] -= torch.from_numpy(np.log(frequency / frequency.mean())).float()
    rank = given.rank or int(origin["rank"]) + int(about["rank"])
    made = of_rank(between(first, second, given.share), rank)
    write_head(given.out, made, about | {"rank": str(rank), "blend": f"{given.share:g}"})


if __name__ == "__main__":
    main()
