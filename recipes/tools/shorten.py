"""A shorter file of a head, or of the mean of several: python shorten.py HEAD [HEAD ...] -o OUT --rank 8 [--eight-bits]

Of each product of adapters the largest singular values are kept, which gives the nearest matrix of that rank in the sum
of squares (Eckart and Young 1936). Of several heads the mean of their products and of their other tensors is taken,
which is a head only where all began from the same weights (Wortsman et al. 2022, "Model soups"). `--eight-bits` keeps
each number of an adapter in 8 bits instead of 16. The metadata are those of the first head; `--name`, `--recipe`,
`--data` and `--phenomena` replace entries. All others but the rank must be equal in all heads. The program prints how
far the stored products are from the mean, relative to its size.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import safe_open

from nlgauge.models.heads import widened
from nlgauge.training.heads import write_head

Tensors = dict[str, torch.Tensor]
TOLD = {"name": "name", "recipe": "recipe", "data": "data", "phenomena": "trained_on_phenomena"}


def read(path: str) -> tuple[Tensors, dict[str, str]]:
    """The tensors of a head and its metadata."""
    with safe_open(path, framework="pt") as file:
        return {key: file.get_tensor(key) for key in file.keys()}, file.metadata()  # noqa: SIM118


def mean(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """The mean of tensors of one shape, in the type of the first."""
    return torch.stack([tensor.double() for tensor in tensors]).mean(0).to(tensors[0].dtype)


def of_rank(downs: Sequence[torch.Tensor], ups: Sequence[torch.Tensor], rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean of the products `up @ down` in a rank; as lora_a (rank, d_in) and lora_b (d_out, rank)."""
    down, up = torch.cat([a.double() for a in downs]), torch.cat([b.double() for b in ups], dim=1) / len(ups)
    # The singular values of the product are those of a small matrix between two orthonormal ones.
    (left, inner), (right, other) = torch.linalg.qr(up), torch.linalg.qr(down.T)
    first, values, last = torch.linalg.svd(inner @ other.T, full_matrices=False)
    root = values[:rank].sqrt()  # half of it on both sides, so that neither leaves the range of float16
    return root[:, None] * (last[:rank] @ right.T), left @ first[:, :rank] * root


def narrowed(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a head with its adapters in whole numbers of 8 bits, each row with a scale: half of the bytes.

    A number of a row is off by 0.4 % of the largest one at most; see `nlgauge.models.heads.Head`.
    """
    found = {}
    for name, tensor in tensors.items():
        if ".lora_" not in name:
            found[name] = tensor
            continue
        wide = tensor.float()
        scale = (wide.abs().amax(dim=1, keepdim=True) / 127).clamp(min=torch.finfo(torch.float32).tiny)
        found[name] = torch.round(wide / scale).to(torch.int8).contiguous()
        found[f"{name}_scale"] = scale.contiguous()
    return found


def main() -> None:
    """Write the head, and say what it lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heads", nargs="+", metavar="HEAD")
    parser.add_argument("-o", "--out", required=True)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--eight-bits", action="store_true")
    for option in TOLD:
        parser.add_argument(f"--{option}")
    given = parser.parse_args()
    found = [read(path) for path in given.heads]
    told = {key: getattr(given, option) for option, key in TOLD.items() if getattr(given, option) is not None}
    fixed = [{key: value for key, value in about.items() if key not in {*told, "rank"}} for _, about in found]
    for path, about in zip(given.heads, fixed, strict=True):
        other = sorted(key for key in {*about, *fixed[0]} if about.get(key) != fixed[0].get(key))
        if other:
            parser.error(f"{path} has another {other[0]} than {given.heads[0]}; a mean is of heads that share it")
    heads = [widened(tensors, Path(path)) for path, (tensors, _) in zip(given.heads, found, strict=True)]
    made: Tensors = {}
    lost = []
    for name in heads[0]:
        layer, adapter, side = name.rpartition(".lora_")
        if not adapter:
            made[name] = mean([tensors[name] for tensors in heads])
        elif side == "a":
            downs, ups = ([tensors[f"{layer}.lora_{which}"] for tensors in heads] for which in "ab")
            pair = {
                f"{layer}.lora_{which}": tensor.half().contiguous()
                for which, tensor in zip("ab", of_rank(downs, ups, given.rank), strict=True)
            }
            stored = narrowed(pair) if given.eight_bits else pair
            made |= stored
            kept = widened(stored, Path(given.out))
            whole = mean([up.double() @ down.double() for down, up in zip(downs, ups, strict=True)])
            short = kept[f"{layer}.lora_b"].double() @ kept[f"{layer}.lora_a"].double()
            lost.append(float((short - whole).norm() / whole.norm()))
    about = found[0][1] | told | {"rank": str(given.rank)}
    write_head(given.out, made, about | ({"mean_of": str(len(heads))} if len(heads) > 1 else {}))
    print(
        f"{len(lost)} products: relative difference {sum(lost) / len(lost):.3f}, largest {max(lost):.3f};"
        f" {os.path.getsize(given.out) / 1e6:.2f} MB"
    )


if __name__ == "__main__":
    main()
