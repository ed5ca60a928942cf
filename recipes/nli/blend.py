"""Between two heads of one origin: python blend.py FIRST SECOND SHARE OUT PAIRS

What the adapters add to a weight, and the classifier, become (1 - SHARE) of the first head's and SHARE of the second's.
The sum of updates of ranks r and s is kept as one of rank r + s, exactly. Wortsman et al. (2022), "Robust fine-tuning
of zero-shot models". The metadata are the second's.

PAIRS: what the second was trained on. Its bias is first put to where labels of equal frequency would have it (Menon et
al. 2021, "Long-tail learning via logit adjustment", equation 9).
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from safetensors import safe_open

from nlgauge.io import InputFile
from nlgauge.training import read_pairs, write_head

Tensors = dict[str, torch.Tensor]


def read(path: str) -> tuple[Tensors, dict[str, str]]:
    with safe_open(path, framework="pt") as file:
        return {key: file.get_tensor(key) for key in file.keys()}, file.metadata()  # noqa: SIM118


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


def main() -> None:
    (first, origin), (second, about) = read(sys.argv[1]), read(sys.argv[2])
    share = float(sys.argv[3])
    frequency = np.bincount([pair.label for pair in read_pairs(InputFile(sys.argv[5]))], minlength=3)
    second["classifier.bias"] -= torch.from_numpy(np.log(frequency / frequency.mean())).float()
    rank = int(origin["rank"]) + int(about["rank"])
    write_head(sys.argv[4], between(first, second, share), about | {"rank": str(rank), "blend": f"{share:g}"})


if __name__ == "__main__":
    main()
