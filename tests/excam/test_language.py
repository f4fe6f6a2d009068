"""The language of a text by script or by model, and an honest "und" where neither can know."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.language import UNKNOWN, language_code, language_of, languages_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("안녕", "ko"),
        ("こんにちは", "ja"),
        ("東京タワーへ行く", "ja"),
        ("中", "zh"),
        ("γεια", "el"),
        ("שלום", "he"),
        ("สวัสดี", "th"),
        ("გამარჯობა", "ka"),
        ("բարեւ", "hy"),
        ("வணக்கம்", "ta"),
        ("ನಮಸ್ಕಾರ", "kn"),
        ("မင်္ဂလာပါ", "my"),
        ("ជំរាបសួរ", "km"),
        ("বাংলা ভাষা", "bn"),
        ("অসমৰ মানুহ", "as"),
    ],
)
def test_a_script_of_one_language_needs_one_word(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What do people eat for breakfast in the countryside?", "en"),
        ("Was essen die Leute auf dem Land zum Frühstück?", "de"),
        ("¿Qué desayuna la gente en el campo?", "es"),
        ("Apa yang dimakan orang desa untuk sarapan pagi?", "id"),
        ("Người dân ở nông thôn ăn gì vào bữa sáng?", "vi"),
        ("Kırsalda insanlar kahvaltıda ne yer?", "tr"),
        ("Что обычно едят на завтрак в деревне?", "ru"),
        ("Що їдять на сніданок у селі?", "uk"),
        ("ماذا يأكل الناس على الفطور في الريف؟", "ar"),
        ("مردم روستا صبحانه چه می‌خورند؟", "fa"),
        ("गाँव में लोग नाश्ते में क्या खाते हैं?", "hi"),
        ("በገጠር ሰዎች ቁርስ ምን ይበላሉ?", "am"),
    ],
)
def test_a_sentence_in_a_shared_script_is_told_by_the_model(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "42",
        "3.14 + 2",
        "👋🏽",
        "OK",
        "True",
        "C",
        "kimchi",
        "def f(x):\n    return g(x)[0] == {}",
        "a = b_c(d);",
    ],
)
def test_too_little_or_code_is_unknown(text: str) -> None:
    assert language_of(text) == UNKNOWN


def test_code_and_links_around_prose_do_not_count() -> None:
    code = "```python\n" + "for item in items: print(item)\n" * 20 + "```"
    assert (
        language_of(f"{code}\nVoici le code demandé, bonne journée à vous. https://example.org/some/english/words")
        == "fr"
    )


def test_a_few_foreign_words_do_not_change_the_language() -> None:
    assert language_of("Ich heiße 田中, wohne in 東京 und lerne jeden Tag Deutsch.") == "de"
    assert language_of("東京で hello という言葉を使うのは普通ですか") == "ja"


def test_many_texts_are_answered_in_order() -> None:
    assert languages_of(["안녕하세요", "", "שלום"]) == ["ko", UNKNOWN, "he"]


def test_threads_may_ask_at_once() -> None:
    texts = ["What do people eat for breakfast?", "Was essen die Leute zum Frühstück?"] * 50
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(language_of, texts)) == ["en", "de"] * 50


def test_a_huge_text_costs_no_more_than_a_long_one() -> None:
    long, huge = "Was essen die Leute zum Frühstück? " * 100, "Was essen die Leute zum Frühstück? " * 60_000
    language_of(long)
    started = time.process_time()
    assert language_of(huge) == "de"
    assert time.process_time() - started < 0.5  # reading all of it takes longer, what it does takes a thousandth


@pytest.mark.parametrize("name", ["id", "ID", " Indonesian ", "id-ID", "id_ID.UTF-8", "ind", "in"])
def test_a_language_is_known_by_its_code_its_locale_or_its_english_name(name: str) -> None:
    assert language_code(name) == "id"


@pytest.mark.parametrize(
    ("name", "code"), [("Bengali", "bn"), ("Bangla", "bn"), ("Farsi", "fa"), ("Mandarin", "zh"), ("Tagalog", "tl")]
)
def test_a_language_of_several_english_names_is_known_by_each(name: str, code: str) -> None:
    assert language_code(name) == code


@pytest.mark.parametrize("code", ["no", "nn", "tl", "zh", "sr", UNKNOWN])
def test_a_code_this_module_answers_stands_for_itself(code: str) -> None:
    assert language_code(code) == code


@pytest.mark.parametrize("name", ["", "klingonish", "-", "42", "i-default", "english please"])
def test_what_names_no_language_has_no_code(name: str) -> None:
    assert language_code(name) is None


def test_importing_it_loads_no_model() -> None:
    code = "import sys, excam.language; print('py3langid' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@given(st.text(st.characters(exclude_categories=()), max_size=300))
@settings(max_examples=100, deadline=None)
def test_no_text_can_crash_it_and_every_answer_is_a_code(text: str) -> None:
    language = language_of(text)
    assert language == UNKNOWN or (len(language) == 2 and language.isascii() and language.islower())
