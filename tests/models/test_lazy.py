"""The network of a model is loaded once, and not before it is asked."""

from nlgauge.models.lazy import LazyModel


def test_the_network_is_loaded_once_and_only_when_asked():
    loaded = []

    def load():
        loaded.append("network")
        return "network"

    model = LazyModel("files", "tokenizer", load, None)
    assert (model.found, model.tokenizer, loaded) == ("files", "tokenizer", [])
    assert model.network == model.network == "network"
    assert loaded == ["network"]
