"""The encoders of languages are those of bert_score, and presets by language name them."""

import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.metrics.embedding import baseline
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.languages import LANGUAGES, encoder_for, is_encoder_for
from nlgauge.metrics.embedding.layers import best_layer


@pytest.mark.parametrize("language", [*LANGUAGES, "ja", "no such language"])
def test_encoders_and_layers_are_those_of_bert_score(language):
    theirs = pytest.importorskip("bert_score.utils")
    name = theirs.lang2model[language]
    assert encoder_for(language) == (name, theirs.model2layers[name])
    assert best_layer(name, 48) == theirs.model2layers[name]  # deeper than any of them


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_preset_by_language_names_its_encoder(language):
    model, layer = encoder_for(language)
    built = ng.metric(f"paper/bertscore-{language}")
    assert built == BertScore(model=model, layer=layer, language=language)


def test_presets_rescale_by_the_baseline_of_their_language():
    metric = ng.metric("paper/bertscore-de:rescale=true")
    assert baseline.find(metric.baseline, metric.model, metric.language).identity == "de/bert-base-multilingual-cased"
    metric = ng.metric("paper/bertscore-ru:rescale=true")  # none is bundled: not that of English
    with pytest.raises(ng.InputError, match=r"no baseline .* language 'ru'; bundled for it: cs, de"):
        baseline.find(metric.baseline, metric.model, metric.language)


def test_a_language_is_refused_where_neither_the_baseline_nor_the_encoder_is_of_it():
    with pytest.raises(SpecError, match="language=de chooses the bundled baseline and changes nothing here"):
        BertScore(model="roberta-large", language="de")
    assert is_encoder_for("/models/bert-base-multilingual-cased", "de")
    assert is_encoder_for("dbmdz/bert-base-turkish-cased", "tr")
    assert not is_encoder_for("roberta-large", "de")
    assert not is_encoder_for("embedded", "en")


def test_a_language_alone_is_not_in_the_signature(tiny_model, tmp_path):
    folder = tmp_path / "bert-base-multilingual-cased"
    folder.symlink_to(tiny_model("bert"))
    plain, named = (BertScore(model=str(folder), layer=1, **options) for options in ({}, {"language": "de"}))
    assert str(signature_of(plain, ng.Runtime())) == str(signature_of(named, ng.Runtime()))
