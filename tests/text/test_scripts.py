"""Word lists: sets that are read late, and files that say what they are."""

import ast
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import nlgauge
from nlgauge.text import scripts
from nlgauge.text.scripts import (
    WordList,
    data_lines,
    known_writings,
    languages,
    leaning,
    names,
    told_language,
    writings,
)

SOURCE = Path(nlgauge.__file__).parent
FILES = sorted(p.name for p in files("nlgauge").joinpath("data", "language", "wordlists").iterdir())
PARTS = ("adj", "noun", "verb", "adverb")


def used() -> list[tuple[str, str]]:
    """File and section of every word list in the source."""
    calls = []
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    for text in (text for text in texts if "WordList(" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "WordList":
                file, section = (a.value if isinstance(a, ast.Constant) else None for a in node.args)
                calls += [(file, section)] if section else [(file, f"grammar {part}") for part in PARTS]
    return calls


def test_a_list_is_a_set_in_the_order_of_its_file():
    states = WordList("words", "states")
    assert list(states)[:3] == ["Texas", "California", "Florida"]
    assert len(states) == 16
    assert "Texas" in states
    assert "texas" not in states
    assert None not in states


def test_lists_join_and_part_like_frozensets():
    be = WordList("words", "linking verbs")
    assert be | {"has"} == frozenset(be) | {"has"}
    assert {"has"} | be == frozenset({"has", *be})
    assert isinstance(frozenset({"has"}) | be, frozenset)
    assert be & {"is", "has"} == {"is"}
    assert be - set(be) == set()


def test_a_list_is_read_when_first_looked_into_and_not_before():
    code = (
        "from nlgauge.text import scripts; from nlgauge.text.english import verbs, clauses;"
        "print(scripts.data_lines.cache_info().misses, 'though' in verbs.OPENERS,"
        " scripts.data_lines.cache_info().misses)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["0", "True", "1"]


def test_a_list_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError, match="no such list"):
        len(WordList("words", "no such list"))


def test_every_list_in_the_files_is_used_and_every_list_used_is_there():
    there = [
        (file.removesuffix(".txt"), line.strip("[]"))
        for file in FILES
        for line in data_lines(f"wordlists/{file}")
        if line.startswith("[")
    ]
    assert sorted(there) == sorted(used())


@pytest.mark.parametrize("file", FILES)
def test_a_file_says_what_it_is_and_no_list_names_a_word_twice(file):
    text = files("nlgauge").joinpath("data", "language", "wordlists", file).read_text(encoding="utf-8")
    assert text.startswith("# ")
    sections = "\n".join(data_lines(f"wordlists/{file}")).split("[")[1:]
    for words in (section.partition("]")[2].split() for section in sections):
        assert len(words) == len(set(words)) > 10


# --- Languages of texts, by py3langid's model; nothing is downloaded and no pickle is read


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The road is closed today because of works."),
        ("de", "Die Straße ist heute wegen Bauarbeiten gesperrt."),
        ("fr", "La route est fermée aujourd'hui à cause de travaux."),
        ("ru", "Дорога сегодня закрыта из-за ремонта."),
        ("zh", "今天由于施工，这条道路封闭。"),
    ],
)
def test_sentences_are_told_apart(code, text):
    found = languages(text)
    assert next(iter(found)) == code
    assert found[code] > 0.5
    assert sum(found.values()) == pytest.approx(1, abs=1e-3)  # float32 over 139 languages
    assert languages(text + " " + text * 99)[code] > 0.5  # long texts are cut


def test_a_text_without_letters_has_no_language():
    assert max(languages("12 + 34").values()) < 0.9


# --- Which script a text is in, by ranges of Unicode

BY_SCRIPT = {
    "Latin": "Der Übergang ist gesperrt, ça va, đúng vậy.",
    "Greek": "Ο σκύλος κοιμάται στον καναπέ.",
    "Cyrillic": "Старая собака спит на диване.",
    "Hebrew": "הכלב ישן על הספה.",
    "Arabic": "الكلب نائم على الأريكة.",
    "Devanagari": "कुत्ता सोफ़े पर सो रहा है।",
    "Thai": "สุนัขนอนอยู่บนโซฟา",
    "Hangul": "개가 소파에서 자고 있다.",
    "Han": "猫坐在垫子上，狗在外面。",
    "Kana": "船は毎朝七時に港を出ます。",
    "Ethiopic": "ውሻው ሶፋው ላይ ተኝቷል።",
    "Mathematical": "𝐓𝐡𝐞 𝐝𝐨𝐠",
}


def found(text):
    (code,) = writings([text])
    return known_writings()[code]


@pytest.mark.parametrize(("script", "text"), BY_SCRIPT.items())
def test_the_script_of_most_letters(script, text):
    assert found(text).script == script


@pytest.mark.parametrize("text", ["", " ", "12:30, 4 %", "🙂🎉", "plain words", "half 你好吗", "\ud800 lone"])
def test_latin_and_text_without_letters_is_nothing_special(text):
    assert writings([text]).tolist() == [0]


def test_half_of_the_letters_make_a_text_latin():
    # three Latin letters and three or four of Han
    assert found("abc 你好吗").script == "Latin"
    assert found("abc 你好吗们").script == "Han"


def test_japanese_is_han_with_some_kana():
    # 1 of 11 letters is kana, then 1 of 10: more than a tenth is needed
    assert found("東京都知事選挙候補者一の").script == "Han"
    assert found("東京都知事選挙の").script == "Kana"


@pytest.mark.parametrize(
    ("text", "spaced"),
    [
        ("猫坐在垫子上，狗在外面。", False),
        ("猫 坐 在 垫子 上 ， 狗 在 外面 。", True),
        ("คืนนี้จะมีฝนตกหนัก ทางภาคเหนือของประเทศ", False),  # blanks stand between phrases
        ("Старая собака", True),
        ("Старая", True),
    ],
)
def test_whether_words_are_set_apart_by_blanks(text, spaced):
    assert found(text).spaced is spaced


def test_the_same_text_twice_and_empty_texts_beside_it():
    code = writings(["Старая"])[0]
    assert writings(["", "Старая", "old", "Старая", "é"]).tolist() == [0, code, 0, code, 0]


def test_many_texts_are_looked_at_in_parts(monkeypatch):
    monkeypatch.setattr(scripts, "_CHARACTERS", 8)
    texts = [*BY_SCRIPT.values(), "plain"] * 2
    names = [known_writings()[code].script for code in writings(texts)]
    assert names == [*BY_SCRIPT, "Latin"] * 2


def test_no_range_belongs_to_two_scripts():
    claimed = {}
    for name, _, _, ranges in scripts._scripts():
        for ends in ranges.split():
            low, _, high = ends.partition("-")
            for code in range(int(low, 16), int(high or low, 16) + 1):
                assert claimed.setdefault(code, name) == name


# --- Languages by function words: told where they decide, and not otherwise; their codes are those of the model

SENTENCES = {
    "en": "The road is closed today because of works.",
    "de": "Die Straße ist heute wegen Bauarbeiten nicht für alle gesperrt, und wir müssen warten.",
    "fr": "La route est fermée aujourd'hui à cause de travaux, et nous devons attendre.",
    "es": "La carretera está cerrada hoy porque hay obras, y todos tenemos que esperar.",
    "nl": "De weg is vandaag dicht omdat er aan wordt gewerkt, maar wij wachten niet.",
    "it": "La strada è chiusa oggi perché ci sono dei lavori, e non possiamo passare.",
    "ru": "Дорога сегодня закрыта, и мы не знаем, когда это будет иначе, но они ждут.",
}


@pytest.mark.parametrize(("code", "text"), SENTENCES.items())
def test_sentences_are_told_by_their_function_words(code, text):
    assert told_language(text) == code
    assert leaning(text) == code


@pytest.mark.parametrize("text", ["", "12 + 34", "Tokyo, Osaka, Kyoto", "the the the", "Heavy rain", "in", "na u je"])
def test_little_tells_nothing(text):
    assert told_language(text) is None


def test_a_text_half_in_another_language_is_not_decided():
    # the, of, and against der, und, von: three each, and one language must have twice as many as another
    assert told_language("the house of Anna and der Hund und von") is None
    assert leaning("the house of Anna and der Hund und von") is None


def test_near_languages_are_not_told_apart_but_both_are_not_english():
    text = "Det er en by i den nordlige del av landet, og de har en kirke der."  # Norwegian, and nearly Danish
    assert told_language(text) is None
    assert leaning(text) in ("no", "nn", "da", "sv")


def test_codes_are_those_of_the_model_so_that_language_pairs_need_no_model():
    assert names().keys() == languages("Which language?").keys()
    assert names()["de"] == "German"
