import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
import types
from importlib import import_module

import pytest

import nlgauge
from nlgauge.core.doors import _MAKERS, door, homes, made
from nlgauge.core.result import Result

WITHIN = (
    "adapters",
    "audits",
    "core",
    "io",
    "metaeval",
    "metrics",
    "perturbations",
    "stats",
    "testing",
    "text",
)
PACKAGES = ("nlgauge", *(f"nlgauge.{name}" for name in WITHIN))


@pytest.fixture(params=PACKAGES)
def package(request):
    return importlib.import_module(request.param)


def test_a_package_shows_its_public_names_and_no_others(package):
    assert dir(package) == sorted(package.__all__)
    assert len(set(package.__all__)) == len(package.__all__)


def test_every_name_is_imported_for_type_checkers_and_no_other_is(package):
    assert set(homes(package.__name__)) == set(package.__all__)


def test_a_name_is_the_thing_itself_where_it_lives(package):
    if package.__name__ == "nlgauge.adapters":
        pytest.importorskip("torch")
    for name, home in homes(package.__name__).items():
        value = getattr(package, name)
        there = getattr(importlib.import_module(home), name)
        assert value is there or inspect.unwrap(value) is inspect.unwrap(there)  # a function refuses other types, too
        assert getattr(package, name) is value
        if isinstance(value, types.FunctionType):
            assert pickle.loads(pickle.dumps(value)) is value
        if isinstance(value, type):  # errors and warnings bear the name of the package itself
            assert value.__module__ in (home, "nlgauge"), f"{name} is defined in {value.__module__}"


def test_a_public_name_is_never_that_of_a_module_beside_it(package):
    """Whoever imports the module first would get it in place of the function, for the import sets it on the package."""
    beside = {found.name for found in pkgutil.iter_modules(package.__path__)}
    assert not beside & set(package.__all__)


@pytest.mark.parametrize("name", WITHIN)
def test_what_stands_at_the_top_is_offered_there_alone(name):
    assert not set(importlib.import_module(f"nlgauge.{name}").__all__) & set(nlgauge.__all__)


def test_to_import_every_package_loads_no_module_of_theirs():
    code = f"import sys, {', '.join(PACKAGES)}\nprint(*sorted(m for m in sys.modules if m.startswith('nlgauge')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {*PACKAGES, "nlgauge.core.doors"}


def test_a_name_that_does_not_exist_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'no_such_name'"):
        _ = package.no_such_name


def test_what_is_imported_for_other_reasons_is_no_public_name(tmp_path, monkeypatch):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "goods.py").write_text("bread, till = 1, 2\n")
    (tmp_path / "shop" / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\nfrom nlgauge.core.doors import door\n"
        "if TYPE_CHECKING:\n    from shop.goods import bread, till\n"
        "else:\n    __getattr__, __dir__ = door(__name__)\n__all__ = ['bread']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    shop = importlib.import_module("shop")
    assert (shop.bread, dir(shop)) == (1, ["bread"])
    with pytest.raises(AttributeError):
        _ = shop.till


def test_a_package_without_its_source_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "bare", types.SimpleNamespace(__all__=["name"]))
    monkeypatch.setattr(inspect, "getsource", lambda found: (_ for _ in ()).throw(OSError))
    get, names = door("bare")
    assert names() == ["name"]
    with pytest.raises(ImportError, match="the names of bare are read from its source, which is not installed"):
        get("name")


def test_tracebacks_show_the_public_names_of_errors():
    assert {error.__module__ for error in (nlgauge.InputError, nlgauge.SpecError, nlgauge.MissingExtra)} == {"nlgauge"}


# --- Forms are made by functions that exist, and by none that is loaded before it is needed


@pytest.mark.parametrize("target", _MAKERS.values(), ids=_MAKERS)
def test_every_form_has_a_maker(target):
    module, _, name = target.partition(":")
    assert callable(getattr(import_module(module), name))


def test_the_maker_gets_what_is_to_be_shown():
    assert made("result", Result("align", [{"part": "f1"}])).count("f1") == 1
