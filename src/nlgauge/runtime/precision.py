"""Which precision `dtype=auto` takes: bfloat16 where the processor multiplies it faster than float32."""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_FAST = {"avx512_bf16", "amx_bf16"}  # instructions of x86 processors that multiply bfloat16, as Linux names them
_CPUINFO = Path("/proc/cpuinfo")
_AMPERE = 8  # the first generation of NVIDIA's devices that multiplies bfloat16


@cache
def automatic(device: str) -> str:
    """`bfloat16` or `float32`, by the instructions of the device and nothing that varies from run to run.

    Other processors than those of x86 take float32, since bfloat16 was not measured on them, and so does a device that
    cannot be used. torch is imported only where it may have another device than the processor.

    Args:
        device: the device, as in a runtime.
    """
    if device == "cpu" or (device == "auto" and not _may_have_gpu()):
        return "bfloat16" if _multiplies_bfloat16() else "float32"
    if device != "auto" and not device.startswith("cuda"):
        return "float32"
    try:
        import torch
    except ImportError:
        return "float32"
    if not torch.cuda.is_available():
        return automatic("cpu") if device == "auto" else "float32"
    try:
        major, _ = torch.cuda.get_device_capability(None if device == "auto" else device)
    except (RuntimeError, AssertionError, ValueError):  # no such device
        return "float32"
    return "bfloat16" if major >= _AMPERE else "float32"


def has_gpu() -> bool:
    """Whether `auto` takes a GPU; torch is imported only where it may find one."""
    if not _may_have_gpu():
        return False
    import torch

    return torch.cuda.is_available()


def _may_have_gpu() -> bool:
    """Whether the installed torch may find a GPU that `auto` takes; it is not imported for that."""
    try:
        return sys.platform != "darwin" and not version("torch").endswith("+cpu")
    except PackageNotFoundError:
        return False


def _multiplies_bfloat16() -> bool:
    """Whether the processor has an instruction that multiplies bfloat16."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return _torch_multiplies_bfloat16()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return bool(_FAST & set(flags.split()))


def _torch_multiplies_bfloat16() -> bool:
    """The same, asked of torch on systems that do not list the instructions."""
    try:
        import torch
    except ImportError:
        return False
    return any(
        getattr(torch.cpu, name, lambda: False)() for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    )
