from importlib import metadata

import nlgauge
from nlgauge.core import release


def test_the_release_is_that_of_the_distribution():
    try:
        installed = metadata.version("nlgauge")
    except metadata.PackageNotFoundError:  # run from a folder of sources
        installed = "absent"
    assert nlgauge.__version__ == release.__version__ == installed
