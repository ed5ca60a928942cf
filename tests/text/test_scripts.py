"""Which script a text is in, by ranges of Unicode."""

import pytest

from nlgauge.text import scripts
from nlgauge.text.scripts import known_writings, writings

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
