"""Between two heads of one origin: python blend.py FIRST SECOND SHARE OUT PAIRS

What the adapters add to a weight, and the classifier, become (1 - SHARE) of the first head's and SHARE of the second's.
The sum of two updates of rank r is kept as one of rank 2r, exactly. Wortsman et al. (2022), "Robust fine-tuning of
zero-shot models". The metadata are the second's.

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


def read(path: str) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    with safe_open(path, framework="pt") as file:
        return {key: file.get_tensor(key) for key in file.keys()}, file.metadata()  # noqa: SIM118


def main() -> None:
    (first, _), (second, about) = read(sys.argv[1]), read(sys.argv[2])
    share = float(sys.argv[3])
    frequency = np.bincount([pair.label for pair in read_pairs(InputFile(sys.argv[5]))], minlength=3)
    second["classifier.bias"] -= torch.from_numpy(np.log(frequency / frequency.mean())).float()
    made = {}
    for name, tensor in second.items():
        if name.endswith(".lora_a"):
            made[name] = torch.cat([first[name], tensor])
        elif name.endswith(".lora_b"):
            made[name] = torch.cat([((1 - share) * first[name].float()).half(), (share * tensor.float()).half()], dim=1)
        else:
            made[name] = (1 - share) * first[name] + share * tensor
    write_head(sys.argv[4], made, about | {"rank": str(2 * int(about["rank"])), "blend": f"{share:g}"})


if __name__ == "__main__":
    main()
