"""What a name stands for; that it is fetched and removed is in test_repository.py and test_fetch.py."""

import pytest

import nlgauge as ng
from nlgauge.models import names, repository


@pytest.mark.parametrize(
    ("name", "is_of_hub", "parts"),
    [
        ("embedded", False, ("embedded", None)),
        ("all", False, ("all", None)),
        ("owner/model", True, ("owner/model", None)),
        ("owner/model@refs/pr/6", True, ("owner/model", "refs/pr/6")),
        ("roberta-large", True, ("roberta-large", None)),  # moved to an owner since
        ("roberta-large@main", True, ("roberta-large", "main")),
        ("bass", False, ("bass", None)),  # refused as an encoder, with what is near
    ],
)
def test_what_a_name_stands_for(name, is_of_hub, parts):
    assert (names.is_of_hub(name), repository.split(name)) == (is_of_hub, parts)


def test_files_in_place_of_an_index_are_for_encoders():
    with pytest.raises(ng.InputError, match=r"^owner/model comes from the hub; --from is for embedded, base, multi"):
        ng.fetch("owner/model", source="folder")
