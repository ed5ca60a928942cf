"""Languages of a call: by function words, by the name of a group, and by the model where these say little."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of, spec_of
from nlgauge.core.scores import in_brief
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metrics import languages
from nlgauge.metrics.embedding import vectors
from nlgauge.metrics.languages import FEW, LanguageCounts, unread_by_model
from nlgauge.metrics.registry import METRICS, metric, metric_info, named, runs_with
from nlgauge.metrics.wrapped import ReferencePolicyMetric
from nlgauge.models import fetch
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks
from nlgauge.text.scripts import Writing

GERMAN = "Der Zug war nicht pünktlich, und wir haben auf dem Bahnhof gewartet."
ENGLISH = "The train was not on time, and we were waiting at the station."
NAMES = "Anna Karlsson, Lund"


def found(*segments, side=1):
    """Count texts in groups; ids are their places."""
    counts = LanguageCounts(side)
    for i, (group, *texts) in enumerate(segments):
        counts.add(str(i), group, texts)
    return {code: (one.n, one.first) for code, one in counts.found().items()}


def test_texts_are_counted_and_the_first_are_named():
    assert found(*[(None, GERMAN)] * 6) == {"de": (6, ["0", "1", "2", "3", "4", "5"])}
    assert found(*[(None, GERMAN)] * 20)["de"][1] == [str(i) for i in range(10)]


@pytest.mark.parametrize(("german", "noted"), [(FEW - 1, False), (FEW, True)])
def test_a_few_texts_are_no_language(german, noted):
    assert ("de" in found(*[(None, GERMAN)] * german, *[(None, ENGLISH)] * 10)) is noted


@pytest.mark.parametrize(("english", "noted"), [(45, True), (46, False)])  # 5 of 50 are a tenth, 5 of 51 are less
def test_less_than_a_tenth_of_a_group_is_no_language(english, noted):
    assert ("de" in found(*[(None, GERMAN)] * 5, *[(None, ENGLISH)] * english)) is noted


def test_a_reference_in_another_language_is_enough():
    assert found(*[(None, NAMES, GERMAN)] * 5)["de"][0] == 5
    assert found(*[(None, ENGLISH, GERMAN)] * 5)["de"][0] == 5


def test_the_name_of_a_group_tells_what_words_do_not_unless_they_say_something_else():
    assert found(("en-de", NAMES)) == {"de": (1, ["0"])}
    assert found(("en-de", NAMES), side=0) == {"en": (1, ["0"])}
    assert found(("en-de", NAMES), ("en-de", GERMAN))["de"][0] == 2
    assert "de" not in found(("en-de", NAMES), ("en-de", ENGLISH))
    assert found(("weather", NAMES), ("as-xx", NAMES), ("q-a", NAMES)) == {}


def test_groups_are_told_apart():
    many = [("news", ENGLISH)] * 100
    assert found(*many, *[("talks", GERMAN)] * 5)["de"] == (5, [str(i) for i in range(100, 105)])


def test_texts_in_other_scripts_count_towards_all():
    counts = LanguageCounts()
    counts.add("a", "en-zh", [NAMES])
    for _ in range(10):
        counts.pass_by("en-zh")
    assert counts.found() == {}  # one of eleven


LATIN_WORDS = "Gallia est divisa partes tres"


def test_the_model_is_asked_where_words_say_little_and_must_be_certain_each_time(monkeypatch):
    asked = []

    def model(text):
        asked.append(text)
        return {"la": sure.pop(), "en": 0.0}

    monkeypatch.setattr(languages, "languages", model)
    sure = [0.995] * 3
    assert found(*[(None, LATIN_WORDS)] * 10)["la"][0] == 10
    assert len(asked) == 3
    sure = [0.995, 0.98, 0.995]
    assert found(*[(None, LATIN_WORDS)] * 10) == {}
    assert found(*[(None, LATIN_WORDS)] * 9) == {}  # too few to ask
    assert {*found(*[(None, LATIN_WORDS)] * 30, *[(None, ENGLISH)] * 10)} == {"en"}  # a quarter says enough
    assert len(asked) == 6


def test_the_order_of_the_texts_is_nothing_to_the_model(monkeypatch):
    asked = []
    monkeypatch.setattr(languages, "languages", lambda text: asked.append(text) or {"la": 0.5})
    rows = [(None, f"{LATIN_WORDS} {chr(97 + place % 26) * 3}{place}") for place in range(60)]
    found(*rows)
    found(*rows[::-1])
    assert asked[:3] == asked[3:]
    assert sum(text.count("Gallia") for text in asked) == 2 * 24


def test_addresses_are_in_no_language(monkeypatch):
    monkeypatch.setattr(languages, "languages", lambda text: {"la": 0.995 if text.strip() else 0.0})
    urls = [(None, f"https://www.example{place}.com/it/la-casa/che-non.html") for place in range(20)]
    assert found(*urls) == {}
    assert found(*[(None, f"Scrivi a info@la-che-non-{place}.it.") for place in range(20)]) != {}  # the rest may be


# --- Texts in scripts that a metric does not read: noted, refused, and never scored as equal without a word

CHINESE = ("火车晚点了两个小时。", "昨天他没有去学校上课。")
# Two sentences each that have nothing to do with each other: the weather, and somebody who was not at school.
UNRELATED = {
    "Thai": ("คืนนี้จะมีฝนตกหนักทางภาคเหนือ", "เมื่อวานเขาไม่ได้ไปโรงเรียน"),
    "Khmer": ("យប់នេះនឹងមានភ្លៀងធ្លាក់ខ្លាំង", "ម្សិលមិញគាត់មិនបានទៅសាលារៀនទេ"),
    "Lao": ("ຄືນນີ້ຈະມີຝົນຕົກໜັກ", "ມື້ວານນີ້ລາວບໍ່ໄດ້ໄປໂຮງຮຽນ"),
    "Burmese": ("ဒီည မိုးသည်းထန်စွာ ရွာမည်", "မနေ့က သူ ကျောင်းမသွားခဲ့ပါ"),
    "Tibetan": ("དོ་དགོང་ཆར་པ་ཆེན་པོ་འབབ་ངེས།", "ཁ་སང་ཁོང་སློབ་གྲྭར་མ་ཕྱིན།"),
    "Amharic": ("ዛሬ ማታ ከባድ ዝናብ ይዘንባል።", "ትናንት እሱ ትምህርት ቤት አልሄደም።"),
    "Tamil": ("இன்றிரவு கனமழை பெய்யும்.", "நேற்று அவன் பள்ளிக்குச் செல்லவில்லை."),
    "Telugu": ("ఈ రాత్రి భారీ వర్షం కురుస్తుంది.", "నిన్న అతను పాఠశాలకు వెళ్ళలేదు."),
    "Kannada": ("ಇಂದು ರಾತ್ರಿ ಭಾರಿ ಮಳೆಯಾಗಲಿದೆ.", "ನಿನ್ನೆ ಅವನು ಶಾಲೆಗೆ ಹೋಗಲಿಲ್ಲ."),
    "Malayalam": ("ഇന്ന് രാത്രി കനത്ത മഴ പെയ്യും.", "ഇന്നലെ അവൻ സ്കൂളിൽ പോയില്ല."),
    "Bengali": ("আজ রাতে ভারী বৃষ্টি হবে।", "গতকাল সে স্কুলে যায়নি।"),
    "Gujarati": ("આજે રાત્રે ભારે વરસાદ પડશે.", "ગઈકાલે તે શાળાએ ગયો ન હતો."),
    "Punjabi": ("ਅੱਜ ਰਾਤ ਭਾਰੀ ਮੀਂਹ ਪਵੇਗਾ।", "ਕੱਲ੍ਹ ਉਹ ਸਕੂਲ ਨਹੀਂ ਗਿਆ।"),
    "Odia": ("ଆଜି ରାତିରେ ପ୍ରବଳ ବର୍ଷା ହେବ।", "ଗତକାଲି ସେ ସ୍କୁଲ ଯାଇନଥିଲା।"),
    "Sinhala": ("අද රාත්‍රියේ තද වැසි ඇති වේ.", "ඊයේ ඔහු පාසල් ගියේ නැත."),
    "Hindi": ("आज रात भारी बारिश होगी।", "कल वह स्कूल नहीं गया।"),
    "Korean": ("오늘 밤 북부 지방에 폭우가 내립니다.", "어제 그는 학교에 가지 않았다."),
    "Chinese": CHINESE,
    "Japanese": ("今夜は北部で大雨になるでしょう。", "昨日彼は学校に行きませんでした。"),
    "Arabic": ("ستهطل الليلة أمطار غزيرة.", "لم يذهب إلى المدرسة أمس."),
    "Hebrew": ("הלילה ירד גשם כבד.", "אתמול הוא לא הלך לבית הספר."),
    "Greek": ("Απόψε θα βρέξει δυνατά.", "Χθες δεν πήγε στο σχολείο."),
    "Russian": ("Сегодня ночью будет сильный дождь.", "Вчера он не ходил в школу."),
    "Georgian": ("ამაღამ ძლიერი წვიმა იქნება.", "გუშინ ის სკოლაში არ წავიდა."),
    "Armenian": ("Այս գիշեր հորդառատ անձրև կլինի։", "Երեկ նա դպրոց չի գնացել։"),
    "emoji": ("🌧️🌧️🌙", "🏫🚫🧒"),
    "mathematical letters": ("𝐈𝐭 𝐰𝐢𝐥𝐥 𝐫𝐚𝐢𝐧 𝐭𝐨𝐧𝐢𝐠𝐡𝐭", "𝐇𝐞 𝐰𝐚𝐬 𝐧𝐨𝐭 𝐚𝐭 𝐬𝐜𝐡𝐨𝐨𝐥"),
}
LANGUAGES_ENGLISH = [
    ("Heavy rain is expected in the north tonight.", "He did not go to school yesterday."),
    ("The museum opens at nine.", "My sister plays the violin."),
    ("Bread has become more expensive.", "A goat stood on the roof of the car."),
    ("She lost her keys on the beach.", "The parliament votes on the budget."),
    ("Two trains were cancelled.", "This soup needs more salt."),
    ("The patient was sent home.", "Wolves have returned to the forest."),
    ("He repaired the old clock.", "Our flight leaves from gate seven."),
    ("The river froze in January.", "Nobody answered the phone."),
    ("Children under six travel free.", "The novel won three prizes."),
    ("They painted the fence green.", "Oil prices fell again on Monday."),
    ("The bank will close two branches.", "I have never eaten a mango."),
    ("Turn left after the bridge.", "The singer cancelled her tour."),
    ("Our neighbours have a new dog.", "The experiment was repeated twice."),
    ("The goalkeeper saved a penalty.", "Add the flour and stir."),
    ("A storm damaged the lighthouse.", "His password was too short."),
    ("The library is closed on Sundays.", "Penguins cannot fly."),
    ("She speaks four languages.", "The battery lasts ten hours."),
    ("The mayor resigned last week.", "These shoes are too small."),
    ("It takes an hour to reach the top.", "The jury could not agree."),
    ("The garden is full of roses.", "Please send the invoice by Friday."),
]


def segments(pairs):
    """Each text against the other, which also stands in for its source and for what was said before."""
    return [
        Segment(name, hypothesis, (other,), source=other, context=({"speaker": "A", "text": other},))
        for name, (hypothesis, other) in pairs.items()
    ]


def notes(spec, pairs, language="note"):
    return notes_on(named(spec), *segments(pairs), language=language)


def notes_on(metrics, *segments, language="note"):
    return Looks(language, guards="off").seen(metrics, segments).notes()


SLOW = bool(os.environ.get("NLGAUGE_SLOW"))
AT_HAND = ("the embedded models", "no model")
RUNTIME = Runtime()  # one, so that models are loaded once


def test_no_unrelated_pair_in_any_script_scores_high_without_a_word():
    pytest.importorskip("torch")
    specs = [n for n in METRICS.names() if runs_with(n) in AT_HAND and metric_info(n).cached]
    # All metrics in one call, in which those of one model share what it reads; by day every third script.
    english, foreign = segments(dict(enumerate_text(LANGUAGES_ENGLISH))), segments(UNRELATED)[:: 1 if SLOW else 3]
    all_english, all_found = (
        ng.score(Dataset(tuple(pairs)), metrics=specs, language="off", runtime=RUNTIME) for pairs in (english, foreign)
    )
    for spec in specs:
        built, of_english, found = metric(spec), all_english[spec], all_found[spec]
        assert "unknown" in built.info.flags, f"{spec}: a model that does not count what it cannot read"
        assert not any(flag.any() for flag in of_english.flags.values()), spec
        assert notes(spec, dict(enumerate_text(LANGUAGES_ENGLISH))) == [], spec
        sign = 1 if built.info.higher_is_better else -1
        high = np.quantile(sign * of_english.values, 0.95)
        unmasked = dict(zip(found.ids, found.flags.get("unmasked", np.zeros(len(foreign))), strict=True))
        for segment, value, flag in zip(foreign, sign * found.values, found.flags["unknown"], strict=True):
            said = flag or notes_on(named(spec), segment)
            assert said or value <= high + 1e-6, (spec, segment.id, value)
            assert flag or unmasked[segment.id] or not math.isnan(value), (spec, segment.id)


def enumerate_text(pairs):
    return ((str(i), pair) for i, pair in enumerate(pairs))


@pytest.mark.parametrize(
    ("spec", "unread"),
    [
        ("bleu", {"Thai", "Han", "Kana"}),
        ("bleu:tokenize=none", {"Thai", "Han", "Kana"}),
        ("bleu:tokenize=intl", {"Thai", "Han", "Kana"}),
        ("bleu:tokenize=zh", {"Thai"}),  # it cuts kana into characters, too
        ("bleu:trg_lang=zh", {"Thai"}),
        ("bleu:tokenize=char", set()),
        ("chrf", set()),
        ("wordf", {"Thai", "Han", "Kana"}),
        ("spice:jar=x", {"Thai", "Han", "Kana"}),
        ("meteor15:jar=x.jar", {"Thai", "Han", "Kana"}),
    ],
)
def test_scripts_without_blanks_are_noted_where_a_sentence_would_count_as_a_word(spec, unread):
    built = metric(spec)
    assert {s for s in ("Thai", "Han", "Kana") if built.unread(Writing(s, s, spaced=False))} == unread
    assert built.unread(Writing("Latin", "Latin", spaced=True)) is None


def test_a_note_names_the_metric_the_count_the_script_the_first_and_what_to_do():
    pairs = {"a": ("It rains.", "It snows."), "b": CHINESE, "c": UNRELATED["Thai"], "d": CHINESE, "e": CHINESE}
    assert notes("bertscore", pairs) == [
        "bertscore: 4 of 5 segments (c, b, d, ...) look Thai or Chinese (Han): the model reads English; take --encoder"
        " multilingual for nli and where vectors are compared, else name a model of that language (page"
        " 'guides/translation' of the documentation)"
    ]


def test_one_side_is_enough_and_a_source_that_is_not_read_does_not_count():
    mixed = Segment("x", "It rains.", (CHINESE[0],), source="It rains.")
    assert notes_on(named(["bertscore", "nli:anchor=source"]), mixed)[0].startswith("bertscore: 1 of")
    translated = Segment("x", "It rains.", ("Rain falls.",), source=CHINESE[0])
    assert notes_on(named("bertscore"), translated) == []
    (note,) = notes_on({"m": ReferencePolicyMetric(named("bertscore")["bertscore"], "source")}, translated)
    assert note.startswith("m: 1 of 1 segments (x) look Chinese (Han): the model reads English")


@pytest.mark.parametrize(
    ("spec", "name", "advice"),
    [
        ("bleu", "Chinese", "take tokenize=zh or tokenize=char"),
        ("bleu", "Japanese", "take tokenize=ja-mecab or tokenize=char"),
        ("bleu:tokenize=intl", "Khmer", "take tokenize=char"),
        ("rougeL", "Russian", "keeps only a-z and 0-9; take tokenizer=unicode, or tokenizer=blanks for text"),
        ("rougeL", "Thai", "keeps only a-z and 0-9; take tokenizer=unicode"),
        ("rougeL:tokenizer=blanks", "Thai", "take tokenizer=unicode"),
        ("ter", "Chinese", "take normalized=true,asian_support=true"),
        ("ter", "Lao", "take chrf, which counts characters"),
        ("0.5*bleu+0.5*nli", "Chinese", "tokenize=char; the model reads English"),
    ],
)
def test_the_note_names_the_option_that_can(spec, name, advice):
    (note,) = notes(spec, {name: UNRELATED[name]})
    assert advice in note


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("bleu", "Russian"),
        ("bleu", "Korean"),
        ("bleu:trg_lang=zh", "Chinese"),
        ("bleu:tokenize=char", "Thai"),
        ("rougeL:tokenizer=unicode", "Thai"),
        ("rougeL:tokenizer=blanks", "Russian"),
        ("ter:normalized=true,asian_support=true", "Chinese"),
        ("chrf", "Thai"),
    ],
)
def test_what_can_be_read_gets_no_note(spec, name):
    assert notes(spec, {name: UNRELATED[name]}) == []


def test_one_text_without_blanks_beside_one_that_was_split_is_enough():
    half = {"x": ("火车 晚点 了 两 个 小时 。", "昨天他没有去上学")}
    assert len(notes("bleu", half)) == 1


LANGUAGES_GERMAN = (
    "Der Zug war nicht pünktlich, und wir haben gewartet.",
    "Auf dem Dach ist eine Ziege, die sich nicht bewegt.",
)


def test_other_languages_in_latin_script_are_noted_once_for_all_metrics_that_read_english():
    pytest.importorskip("torch")
    pairs = {str(i): LANGUAGES_GERMAN for i in range(6)}
    way_out = "take --encoder multilingual for nli and where vectors are compared, else name a model of that language"
    looks = f"look German: the model reads English; {way_out} (page 'guides/translation' of the documentation)"
    found = notes(["bertscore", "cosine", "bleu", "chrf", "meteor", "rougeL"], pairs)
    assert found[:2] == [f"{spec}: 6 of 6 segments (0, 1, 2, ...) {looks}" for spec in ("bertscore", "cosine")]
    assert [note.split(":")[0] for note in found] == ["bertscore", "cosine", "meteor", "rougeL"]
    assert found[2].endswith("look German: its stems and synonyms are English")
    assert in_brief(found)[0] == f"bertscore, cosine: 6 of 6 segments {looks}"
    # Heads stay with their encoder, and have the same reason all the same.
    assert in_brief(notes(["cosine", "rated"], pairs)) == [f"cosine, rated: 6 of 6 segments {looks}"]
    assert notes(["bertscore", "meteor", "rougeL", "qmetric"], dict(enumerate_text(LANGUAGES_ENGLISH))) == []
    assert notes(["bertscore", "meteor"], pairs, "off") == []
    with pytest.raises(InputError, match=r"bertscore: 6 of 6 segments \(0, 1, 2, \.\.\.\) look German"):
        notes("bertscore", pairs, "strict")


def test_the_language_pair_of_a_group_tells_it_for_few_texts_and_for_sources():
    pytest.importorskip("torch")
    one = Segment("x", "Anna Karlsson", ("Anna Carlsson",), source="Anna K", group="en-de")
    assert "x) look German: the model reads English" in notes_on(named("bertscore"), one)[0]
    back = replace(one, group="de-en")
    assert notes_on(named("bertscore"), back) == []
    found = notes_on(named("nli:anchor=source"), back)
    assert found[0].startswith("nli:anchor=source: the sources of 1 of 1 segments (x) look German")


def test_a_metric_that_reads_another_language_does_not_read_english():
    writings = [Writing("Latin", name, True, code) for name, code in (("German", "de"), ("English", "en"))]
    told = [unread_by_model(("de",), writing) for writing in writings]
    assert told[0] is None
    assert told[1].startswith(
        "the model reads German; take --encoder multilingual for nli and where vectors are compared, else"
    )
    said = unread_by_model(("de",), writings[1], "the judge")
    assert said.startswith("the judge reads German; name a model")  # no option of metrics moves it
    assert unread_by_model((), writings[0]) is None


def test_text_that_was_split_at_blanks_before_needs_no_other_tokenizer():
    split = {"x": ("火车 晚点 了 两 个 小时 。", "昨天 他 没有 去 学校 。")}
    assert notes(["bleu", "ter"], split) == []


def test_a_folder_model_declares_no_language():
    folder = fetch.folder("embedded")
    assert notes(f'bertscore:model="{folder}"', {"x": CHINESE}) == []


def test_strict_refuses_before_anything_is_scored_and_off_looks_at_nothing():
    pairs = {"x": CHINESE}
    with pytest.raises(
        InputError, match=r"bleu: 1 of 1 segments \(x\) look Chinese.* note in place of strict takes them"
    ):
        notes("bleu", pairs, "strict")
    assert notes("bleu", pairs, "off") == []
    with pytest.raises(InputError, match="look Chinese"):
        ng.score(["火车晚点了"], ["昨天他没有"], metrics="bertscore", language="strict")
    assert ng.score(["a b"], ["a b"], metrics="bleu", language="strict")["bleu"].values[0] == pytest.approx(100)
    with pytest.raises(InputError, match="language is 'loud'"):
        ng.score(["a"], ["a"], metrics="bleu", language="loud")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bertscore:language=de,model=base", "the model base reads English; name one that reads de"),
        ("bertscore:language=en-sci", "the model embedded reads English; name one that reads en-sci"),
        ("bertscore:lang=en-sci", "the model embedded reads English; name one that reads en-sci"),
        ("bertscore:lang=english", "language is 'english', expected a code, such as de or pt-BR"),
        ("bertscore:lang=de,model=roberta-large", "since rescale=true is not given; leave language"),
        ("bertscore:lang=de,language=fr", "lang and language are one option, and both are given; leave one out"),
        ("cosine:lang=de", "cosine has no option 'lang'"),
        ("bertscore:language=de,model=bert-base-cased", "since rescale=true is not given; leave language"),
        ("bertscore:language=de,model=x/y,rescale=true,baseline=b.csv", "since baseline=FILE is given"),
    ],
)
def test_a_language_that_changes_nothing_is_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        ng.metric(spec)


@pytest.mark.parametrize("name", ["lang", "language"])
def test_a_language_names_the_encoder_as_in_bert_score(name):
    assert ng.metric(f"bertscore:{name}=en") == ng.metric("bertscore")
    assert ng.metric(f"bertscore:{name}=de,layer=3") == ng.metric("bertscore:model=multilingual,layer=3")
    assert ng.metric("bertscore", **{name: "zh"}) == ng.metric("bertscore:model=multilingual")
    assert spec_of(ng.metric(f"bertscore:{name}=ja")) == "bertscore:model=multilingual"  # so it is signed
    given = ng.metric(f"bertscore:{name}=de,rescale=true,baseline=b.csv")
    assert given == ng.metric("bertscore:model=multilingual,rescale=true,baseline=b.csv")
    # The baseline is of a language: where none comes, the error names it.
    assert spec_of(ng.metric(f"bertscore:{name}=ja,rescale=true")).endswith(",rescale=true,language=ja")
    with pytest.raises(InputError, match="no baseline comes with the package for model 'multilingual' and language"):
        vectors.find(None, "multilingual", "ja")


def test_a_code_in_capitals_or_with_a_region_is_that_of_the_language():
    for code in ("EN", "en-GB", "EN-us", "eng_Latn"):
        assert ng.metric(f"bertscore:lang={code}") == ng.metric("bertscore")
    assert ng.metric("bertscore:lang=DE") == ng.metric("bertscore:lang=de")
    german = ng.metric("bertscore:language=DE,model=bert-base-multilingual-cased,rescale=true")
    assert german.language == "de"
    for code in ("ZH", "zh-CN", "zh_TW"):
        assert dict(signature_of(ng.metric(f"bleu:trg_lang={code}"), Runtime()).entries)["tokenize"] == "zh"


def test_a_language_chooses_the_baseline():
    metric = ng.metric("bertscore:language=de,model=bert-base-multilingual-cased,rescale=true")
    assert metric.language == "de"


def test_a_note_names_the_group_if_others_are_read():
    chinese = [Segment(f"z{i}", "我们今天买了三个面包", ("我们买了面包",), group="en-zh") for i in range(6)]
    german = [Segment(f"d{i}", "Wir haben Brot gekauft", ("Wir kaufen Brot",), group="en-de") for i in range(6)]
    (told,) = Looks(guards="off").seen(named("bleu"), [*chinese, *german]).notes()
    assert told.startswith("bleu: 6 of 12 segments (z0, z1, z2, ...) look Chinese (Han) (group en-zh): the tokenizer")
    (told,) = Looks(guards="off").seen(named("bleu"), chinese).notes()
    assert "group" not in told
    english = [Segment(f"e{i}", "We bought some bread", ("We buy the bread",), group="x") for i in range(6)]
    (told,) = Looks(guards="off").seen(named("rouge1"), german + english).notes()
    assert "look German (group en-de)" in told
