"""`dtype=auto` is settled by the instructions of the device, once, and never appears in a signature."""

import sys
from types import SimpleNamespace

import pytest

import nlgauge as ng
from nlgauge.core.metric import signature_of
from nlgauge.metrics.registry import METRICS
from nlgauge.models import embedded, heads
from nlgauge.runtime import precision
from nlgauge.runtime.precision import automatic
from nlgauge.runtime.runtime import Runtime

CASCADE_LAKE = "processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512_vnni md_clear\nbugs\t\t: spectre_v1\n"
ZEN_4 = CASCADE_LAKE.replace("avx512_vnni", "avx512_vnni avx512_bf16")
SAPPHIRE_RAPIDS = CASCADE_LAKE.replace("avx512_vnni", "avx512_bf16 amx_bf16 amx_tile amx_int8")


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Makes this an x86 machine with a text in /proc/cpuinfo and a version of torch."""

    def make(cpuinfo, torch="2.13.0+cpu", kind="x86_64"):
        path = tmp_path / "cpuinfo"
        path.write_text(cpuinfo)
        monkeypatch.setattr(precision, "_CPUINFO", path)
        monkeypatch.setattr(precision, "version", lambda package: torch)
        monkeypatch.setattr(precision.platform, "machine", lambda: kind)
        monkeypatch.setattr(precision.sys, "platform", "linux")
        automatic.cache_clear()

    yield make
    automatic.cache_clear()


@pytest.mark.parametrize(
    ("cpuinfo", "taken"), [(CASCADE_LAKE, "float32"), (ZEN_4, "bfloat16"), (SAPPHIRE_RAPIDS, "bfloat16")]
)
def test_a_processor_that_multiplies_bfloat16_takes_it(machine, monkeypatch, cpuinfo, taken):
    machine(cpuinfo)
    monkeypatch.setitem(sys.modules, "torch", None)  # where it can find no GPU, it is not imported
    assert automatic("cpu") == automatic("auto") == taken


def test_a_name_that_is_no_utf8_does_not_matter(machine):
    machine("")
    precision._CPUINFO.write_bytes(b"model name\t: Xeon\xae\n" + SAPPHIRE_RAPIDS.encode())
    assert automatic("cpu") == "bfloat16"


def test_other_processors_and_devices_take_float32(machine):
    machine("Features\t: fp asimd bf16\n", kind="aarch64")
    assert automatic("cpu") == "float32"
    machine(SAPPHIRE_RAPIDS)
    assert automatic("mps") == "float32"


@pytest.mark.parametrize(("available", "major", "taken"), [(True, 9, "bfloat16"), (True, 7, "float32")])
def test_a_gpu_takes_it_from_ampere_on(machine, monkeypatch, available, major, taken):
    cuda = SimpleNamespace(is_available=lambda: available, get_device_capability=lambda device: (major, 0))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    machine(CASCADE_LAKE, torch="2.13.0+cu130")
    assert automatic("auto") == automatic("cuda:1") == taken


def test_without_a_gpu_the_processor_decides(machine, monkeypatch):
    cuda = SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    machine(ZEN_4, torch="2.13.0")
    assert automatic("auto") == "bfloat16"
    assert automatic("cuda") == "float32"  # which ends with an error of its own


def test_a_runtime_settles_it_when_it_is_made(machine):
    machine(ZEN_4)
    assert Runtime(device="cpu", dtype="auto").dtype == "bfloat16"
    assert Runtime(device="cpu").dtype == "float32"
    runtime = Runtime(device="cpu", dtype="float64")
    assert [runtime.precision(dtype) for dtype in (None, "auto", "float16")] == ["float64", "bfloat16", "float16"]


def embedded_metrics():
    """Metrics with a `dtype` whose model is installed."""
    for name in METRICS.names():
        kind, fixed = METRICS.lookup(name)
        model = fixed.get("model", getattr(kind, "model", None))
        if model in {embedded.NAME, *heads.SHIPPED} and "dtype" in getattr(kind, "__annotations__", ()):
            yield name


@pytest.mark.parametrize("cpuinfo", [CASCADE_LAKE, ZEN_4])
def test_signatures_name_the_precision_that_was_taken(machine, cpuinfo):
    pytest.importorskip("torch")
    machine(cpuinfo)
    taken = automatic("cpu")
    names = list(embedded_metrics())
    assert {"bertscore", "cosine"} <= set(names)
    for name in names:
        for spec, runtime in ((name, Runtime(device="cpu", dtype="auto")), (f"{name}:dtype=auto", Runtime("cpu"))):
            assert f"|dtype:{taken}|" in f"{signature_of(ng.metric(spec), runtime)}|", spec


def test_a_gpu_is_looked_for_only_where_torch_may_find_one(machine, monkeypatch):
    machine(CASCADE_LAKE)
    monkeypatch.setitem(sys.modules, "torch", None)  # its own build is for processors: it is not imported
    assert precision.has_gpu() is False
    for available in (True, False):
        cuda = SimpleNamespace(is_available=lambda available=available: available)
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        machine(CASCADE_LAKE, torch="2.13.0+cu130")
        assert precision.has_gpu() is available
