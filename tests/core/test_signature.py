from __future__ import annotations

from nlgauge.core.signature import Signature, together, version, with_documents


def test_a_package_that_is_not_installed_is_absent():
    assert version("no-such-distribution-of-anything") == "absent"


def test_the_text_of_a_signature():
    assert str(Signature("toy", (("metric", "toy"), ("a", "1")))) == "metric:toy|a:1"


def test_parts_with_frequencies_of_their_own_have_one_digest_together():
    bare = Signature("m", (("metric", "m"), ("nlgauge", "1")))
    one, other = with_documents(bare, ["a", "b"]), with_documents(bare, ["c"])
    assert together([bare, bare]) == bare
    assert together([one]) == together([one, one]) == one
    both = together([one, other])
    assert both == together([other, one])
    assert both not in (one, other)
    assert [key for key, _ in both.entries] == ["metric", "documents", "nlgauge"]
