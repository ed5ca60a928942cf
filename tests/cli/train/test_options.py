"""What the kinds of training share."""

import pytest

from nlgauge.cli.train.options import Named, Run, file_of, listed, teller, training_installed
from nlgauge.core.errors import MissingExtra, NlgaugeError


def test_names_between_commas():
    assert listed(" a, b,,c ") == ["a", "b", "c"]
    assert listed("") == []


def test_metadata_name_known_perturbations_alone():
    assert Named(name="mine", phenomena="negation, typos").about() == {
        "name": "mine",
        "recipe": "",
        "data": "",
        "trained_on_phenomena": "negation,typos",
    }
    with pytest.raises(NlgaugeError, match="did you mean 'negation'"):
        Named(phenomena="negatio").about()


def test_what_is_not_installed_is_named_with_its_extra():
    with pytest.raises(MissingExtra, match=r"no peft.*nlgauge\[train\]"), training_installed():
        raise ModuleNotFoundError(name="peft")


def test_a_folder_that_is_there_is_no_file(tmp_path):
    assert file_of(str(tmp_path)) is None
    assert file_of("head.safetensors") == "head.safetensors"


def test_progress_is_told_on_stderr_unless_it_is_quiet(capsys):
    teller(False)("step 1")
    teller(True)("step 2")
    assert capsys.readouterr() == ("", "step 1\n")


@pytest.mark.parametrize("taken", ["float32", "bfloat16"])
def test_training_runs_in_the_precision_that_suits_the_device(monkeypatch, taken):
    # By the rule of `--dtype auto` (tests/runtime/test_runtime.py has the devices), which asks the device of the run.
    asked = []
    monkeypatch.setattr("nlgauge.runtime.runtime.automatic", lambda device: asked.append(device) or taken)
    assert Run(device="cpu").runtime(cached=False).dtype == taken
    assert asked == ["cpu"]
