"""Files of regressors: what their header says, and what is none."""

import pytest

from nlgauge.core.errors import InputError
from nlgauge.models.regressor_files import locate_regressor


def test_names_that_are_no_regressor_are_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"model 'bert-base-cased' is no regressor: expected a \.safetensors head or a folder"
    ):
        locate_regressor("bert-base-cased")
    with pytest.raises(InputError, match=r"holds no regressor\.safetensors"):
        locate_regressor(str(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        locate_regressor(str(tmp_path / "absent.safetensors"))


@pytest.mark.parametrize("name", ["~nobody/regressor", "x" * 300])
def test_a_path_that_the_system_does_not_take_is_no_regressor(name):
    with pytest.raises(InputError, match="is no regressor"):
        locate_regressor(name)
