"""Where a run happens: device, precision, batches, loaded models, cache, seed and progress."""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError, MissingExtra, nearest
from nlgauge.core.options import Range, check_option
from nlgauge.runtime.cache import ScoreCache
from nlgauge.runtime.pool import Pool

# --- Which precision `dtype=auto` takes: bfloat16 where the processor multiplies it faster than float32


_FAST = {"avx512_bf16", "amx_bf16"}  # instructions of x86 processors that multiply bfloat16, as Linux names them
_CPUINFO = Path("/proc/cpuinfo")
_AMPERE = 8  # the first generation of NVIDIA's devices that multiplies bfloat16


@cache
def automatic(device: str) -> str:
    """`bfloat16` or `float32`, by the instructions of the device and nothing that varies from run to run.

    Other processors than those of x86 take float32, since bfloat16 was not measured on them, and so does a device that
    cannot be used. torch is imported only where it may have another device than the processor.
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


# --- Batches of texts for a model, of equal length as far as can be, and windows of pairs whose texts memory can hold

Index = npt.NDArray[np.int64]

# The numbers of one text move with the shape of its batch: a matrix product of another size may be another kernel,
# which adds in another order. Log-probabilities in float32 move by some 1e-6, probabilities in half precision by some
# 1e-2. Two numbers that are further apart than the margin, which is more than twice that, stand in the same order in
# every batch. What hangs on two that are closer is settled by the text alone.
_MARGINS: Mapping[str, float] = {"float64": 1e-4, "float32": 1e-4, "bfloat16": 0.1, "float16": 0.02}


def margin(dtype: str) -> float:
    """How far apart two numbers must be so that their order is the same in every batch.

    In float32 and float64 this holds for probabilities and for their logarithms, in half precision for probabilities.
    """
    return _MARGINS[dtype]


def by_length(lengths: Sequence[int] | Index, budget: int) -> Iterator[Index]:
    """Batches of positions, shortest texts first, each of at most `budget` tokens and at least one text.

    Sorting is stable, so the batches depend only on the numbers of tokens, shape (n,). Texts of equal length lie beside
    each other inside a batch.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    start, used = 0, 0
    for position, index in enumerate(order):
        size = int(lengths[index])
        if position > start and used + size > budget:
            yield order[start:position]
            start, used = position, 0
        used += size
    if start < len(order):
        yield order[start:]


def windows(pairs: Index, sizes: Sequence[int] | Index, most: int) -> Iterator[Index]:
    """Positions of pairs of texts, consecutive, in windows whose distinct texts together have at most `most` of size.

    A pair that is larger stands alone. A window ends only where the next pair does not fit, so pairs that share a text
    should stand beside each other: a text of several windows counts in each.

    Args:
        pairs: the numbers of two texts each, shape (n, 2).
        sizes: the size of each text, shape (texts,).
        most: the largest size of a window.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    held: set[int] = set()
    start = used = 0
    for place, pair in enumerate(map(set, pairs.tolist())):
        new = sum(int(sizes[text]) for text in pair - held)
        if place > start and used + new > most:
            yield np.arange(start, place)
            start, used, held = place, 0, set()
            new = sum(int(sizes[text]) for text in pair)
        held |= pair
        used += new
    if start < len(pairs):
        yield np.arange(start, len(pairs))


def runs(values: Sequence[int] | Index) -> Iterator[tuple[int, int]]:
    """Start and end of each run of equal neighbours."""
    values = np.asarray(values)
    if not len(values):
        return
    edges = np.flatnonzero(np.diff(values)) + 1
    bounds = [0, *edges.tolist(), len(values)]
    yield from pairwise(bounds)


def dtype_and_device(dtype: str, device: str, wanted_by: str) -> tuple[Any, Any]:
    """The torch objects for a precision and a device, as in a runtime; `wanted_by` needs torch."""
    try:
        import torch
    except ImportError:
        raise MissingExtra(wanted_by, "neural") from None
    return getattr(torch, dtype), torch_device(torch, device)


def wide_dtype(device: Any) -> Any:
    """The torch dtype for sums whose rounding must not show: float64, or float32 where Apple has none."""
    import torch

    return torch.float32 if device.type == "mps" else torch.float64


def torch_device(torch: Any, name: str) -> Any:
    """The torch device with a name; `auto` is a GPU if there is one. One that this machine cannot use is refused."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"device {name!r} cannot be used here: {str(error).splitlines()[0]}; try --device cpu"
        ) from None
    return device


# --- Where a run happens: device, precision, token budget, loaded models, score cache, seed, and one bar per metric

DType = Literal["auto", "float32", "bfloat16", "float16", "float64"]
DTYPES: tuple[str, ...] = ("float32", "bfloat16", "float16", "float64")
AUTO = "auto"  # an encoder by the language of the texts, see `scoring.looks.by_texts`
# those that a runtime may put in the place of the first
ENCODERS: tuple[str, ...] = ("embedded", "base", "multilingual", AUTO)
ENCODER_BY = "NLGAUGE_ENCODER"
PAIRS = "pairs"  # key of what metrics of one call share: judgements of pairs of texts, by model
Advance = Callable[[float], None]
T = TypeVar("T")
_PATIENCE, _OFTEN = 1.0, 0.2  # seconds
_LABEL = 40  # characters
_written = [0]  # how long the line is that stands on stderr


@contextmanager
def silent(total: int, label: str) -> Iterator[Advance]:
    """A progress display that shows nothing."""
    yield lambda count: None


@contextmanager
def line(total: int, label: str) -> Iterator[Advance]:
    """A line on stderr that counts what is done, once it has taken a second; it leaves nothing behind."""
    began = told = time.monotonic()
    done = 0.0

    def advance(count: float) -> None:
        nonlocal done, told
        done += count
        now = time.monotonic()
        if done and now - began >= _PATIENCE and now - told >= _OFTEN:
            told, left = now, (now - began) * max(0.0, total - done) / done
            _write(f"{label[:_LABEL]}  {done:,.0f} of {total:,.0f}, {left:,.0f} s left")

    try:
        yield advance
    finally:
        _write("")


def _write(text: str) -> None:
    """Put a text in the place of the line that stands there."""
    blank = " " * max(0, _written[0] - len(text))
    if text or blank:
        _written[0] = len(text)
        sys.stderr.write(f"\r{text}{blank}" if text else f"\r{blank}\r")
        sys.stderr.flush()


def usual(total: int, label: str) -> AbstractContextManager[Advance]:
    """What shows progress where nobody says: a line where somebody sees it."""
    return (line if _is_watched() else silent)(total, label)


def _is_watched() -> bool:
    """Whether stderr is seen as it is written: it is a terminal, or a notebook shows it."""
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


def encoder_of(given: str | None) -> str:
    """The encoder of metrics that name no model: the given one, else that of the environment, else `embedded`."""
    name = given or os.environ.get(ENCODER_BY) or ENCODERS[0]
    if name not in ENCODERS:
        where = "encoder" if given else ENCODER_BY
        raise InputError(
            f"{where} is {name!r}{nearest(name, ENCODERS)}; other models are named by a metric, as in"
            " bertscore:model=FOLDER"
        )
    return name


@dataclass(eq=False)
class Runtime:
    """The device, precision, models and cache that metrics use in a run.

    Attributes:
        device: `auto` (a GPU if there is one), `cpu`, `cuda`, `cuda:1`, `mps`, or a `torch.device`.
        dtype: precision of model arithmetic, as a name or as a `torch.dtype`. It is part of the signature of every
            metric that runs a model. `auto` is bfloat16 where the device multiplies it faster, else float32.
        token_budget: the largest number of tokens in one forward pass. If None, it is chosen by device. It changes the
            speed; scores differ only as sums in another order do (1e-6 in float32, more in half precision).
        seed: the seed of everything that is drawn at random.
        cache: the score cache, the path of its file, or a function that gives it when it is first needed. If None, no
            scores are kept.
        progress: called as `progress(total, label)`. It returns a context whose value is called with the counts done.
            `usual` is `line` where stderr is a terminal or a notebook, and `silent` elsewhere.
        pool: in a run in parts, what pooled metrics take from all segments; None if all segments are in the call.
        encoder: the encoder of metrics that specifications name without a model: `embedded`, `base`, `multilingual`, or
            `auto`, which takes one for English or `multilingual` by the texts of a call. If None, that of the variable
            NLGAUGE_ENCODER, else `embedded`. Metric objects have a model already.
    """

    device: str = "auto"
    dtype: str = "float32"
    token_budget: int | None = None
    seed: int = 0
    cache: ScoreCache | str | Path | Callable[[], ScoreCache] | None = None
    progress: Callable[[int, str], AbstractContextManager[Advance]] = usual
    pool: Pool | None = None
    encoder: str | None = None
    _models: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    _shared: Mapping[Hashable, Any] = field(default_factory=dict, repr=False)
    _lock: Any = field(
        default_factory=threading.RLock, repr=False
    )  # re-entrant: what a model is loaded from may be shared too

    def __post_init__(self) -> None:
        for name in ("device", "dtype"):  # torch.float32 and torch.device("cuda") say the same as their names
            value = getattr(self, name)
            if type(value).__module__ == "torch":
                setattr(self, name, str(value).removeprefix("torch."))
        check_option("device", self.device, str, error=InputError)
        if self.dtype not in ("auto", *DTYPES):
            raise InputError(f"dtype is {self.dtype!r}, expected one of auto, {', '.join(DTYPES)}")
        self.dtype = self.precision(self.dtype)
        check_option("token_budget", self.token_budget, Annotated[int, Range(least=1)] | None, error=InputError)
        check_option("seed", self.seed, int, error=InputError)
        check_option("encoder", self.encoder, str | None, error=InputError)
        self.encoder = encoder_of(self.encoder)
        if self.progress is usual:
            self.progress = line if _is_watched() else silent
        if isinstance(self.cache, str | Path):
            self.cache = ScoreCache(self.cache)

    def __getstate__(self) -> dict[str, Any]:
        """What a process of its own needs: the settings. It loads models and opens the cache itself, and is silent."""
        settings = {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}
        cache = self.cache() if callable(self.cache) else self.cache  # a function may not go to another process
        return {**settings, "cache": cache, "progress": silent}

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def __deepcopy__(self, memo: object) -> Runtime:
        """Itself: copies of what runs here, such as metrics of a training loop, share its models."""
        return self

    def precision(self, dtype: str | None) -> str:
        """The precision in which a metric or model computes: its own, or the runtime's for None; `auto` is settled."""
        if dtype == "auto":
            return automatic(self.device)
        return dtype or self.dtype

    def sharing(self, shared: Mapping[Hashable, Any]) -> Runtime:
        """This runtime, with what the metrics of one call share while it lasts."""
        return replace(self, _shared={**self._shared, **shared})

    def shared(self, key: Hashable) -> Any:
        """The object that the metrics of the call share under a key; None where they share nothing."""
        return self._shared.get(key)

    def once(self, key: Hashable, load: Callable[[], T]) -> T:
        """The result of `load`, which is called once per key: all metrics that name a model share one copy."""
        with self._lock:
            if key not in self._models:
                self._models[key] = load()
            model: T = self._models[key]
            return model


@dataclass(frozen=True)
class Bar:
    """The bar of one metric; None advances nothing."""

    advance: Advance | None

    def done(self, count: float) -> None:
        """Count what needs no work."""
        if self.advance is not None and count > 0:
            self.advance(count)

    @contextmanager
    def part(self, runtime: Runtime, size: float, stages: int = 1) -> Iterator[Runtime]:
        """A runtime for one part of the work, of a size on the bar, whose own bars move this one.

        The part opens `stages` bars itself, such as one per term of a sum. What it shows beyond that does not go past
        its end.
        """
        if self.advance is None:
            yield runtime
            return
        left = size

        def move(count: float) -> None:
            nonlocal left
            count = min(count, left)
            left -= count
            self.done(count)

        @contextmanager
        def inside(total: int, label: str) -> Iterator[Advance]:
            yield lambda count: move(size * count / (stages * max(total, 1)))

        yield replace(runtime, progress=inside)
        move(left)


@contextmanager
def bars(labels: Mapping[str, str], n: int, runtime: Runtime) -> Iterator[dict[str, Bar]]:
    """A bar over n segments for each name, under its label; none where nobody looks."""
    if runtime.progress is silent:
        yield dict.fromkeys(labels, Bar(None))
        return
    with ExitStack() as stack:
        yield {name: Bar(stack.enter_context(runtime.progress(n, label))) for name, label in labels.items()}
