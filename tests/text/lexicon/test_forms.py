"""The part of a language backend that is ours in every one."""

import subprocess
import sys

import pytest

from nlgauge.text.languages import language
from nlgauge.text.lexicon.forms import LexiconForms
from nlgauge.text.lexicon.inflection import inflect, lemma
from nlgauge.text.lexicon.lexicon import related


@pytest.mark.parametrize("backend", [LexiconForms(), language()], ids=["alone", "builtin"])
def test_forms_and_related_words_are_those_of_the_lexicon(backend):
    assert backend.lemma("went", "VBD") == lemma("went", "VBD") == "go"
    assert backend.inflect("go", "VBD") == inflect("go", "VBD") == "went"
    assert backend.inflect("information", "JJR") == inflect("information", "JJR")
    assert backend.related("dog", "noun", "hyponym") == related("dog", "noun", "hyponym") != []


def test_nothing_is_loaded_before_it_is_asked():
    code = "import sys, nlgauge.text.languages; print('nlgauge.text.lexicon.lexicon' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
