"""Logged text never becomes a control token, and is otherwise encoded as usual."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from excam.fault import UserError
from excam.models.tokens import control_tokens, encode_text_as_data, load_tokenizer

CONTROL = ("<|im_start|>", "<|im_end|>", "<tool_call>", "<|fim_prefix|>")
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def _save(backend: Tokenizer, folder: Path, template: str | None = TEMPLATE) -> Path:
    folder.mkdir(exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    if template:
        (folder / "chat_template.jinja").write_text(template)
    return folder


def _bytewise() -> Tokenizer:
    """Bytes, a few merges, tokens marked special, and tokens added without the mark, as Qwen and Gemma have them."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: id for id, letter in enumerate([*letters, "im", "Ġ<", "<|", "|>"])}
    merges = [("i", "m"), ("Ġ", "<"), ("<", "|"), ("|", ">")]
    backend = Tokenizer(models.BPE(vocab, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    unmarked = ("<tool_call>", "<|fim_prefix|>", "<h1>", "\n\n")
    backend.add_tokens([AddedToken(token, normalized=False) for token in unmarked])
    return backend


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load_tokenizer(_save(_bytewise(), tmp_path_factory.mktemp("tokenizer") / "bytes"))


def test_added_tokens_are_control_unless_they_are_white_space_or_html(tokenizer: Any) -> None:
    assert sorted(control_tokens(tokenizer).values()) == sorted(CONTROL)


pieces = st.one_of(st.sampled_from([*CONTROL, "<h1>", "\n\n", "<|", "im", "_end|>", " "]), st.text())


@given(st.lists(pieces).map("".join))
def test_no_text_yields_a_control_token_and_no_letter_is_lost(tokenizer: Any, text: str) -> None:
    ids = encode_text_as_data(tokenizer, text)
    assert control_tokens(tokenizer).keys().isdisjoint(ids)
    assert tokenizer.decode(ids) == text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<")))
def test_text_that_spells_no_control_token_is_encoded_as_usual(tokenizer: Any, text: str) -> None:
    for plain in (text, f"{text}<h1>\n\n{text}"):
        assert encode_text_as_data(tokenizer, plain) == tokenizer(plain, add_special_tokens=False)["input_ids"]


def test_the_usual_way_would_let_them_through(tokenizer: Any) -> None:
    usual = tokenizer("<tool_call>", add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert not control_tokens(tokenizer).keys().isdisjoint(usual)


@given(st.text(st.characters(categories=["Cs", "Ll"])))
def test_broken_unicode_is_data_too(tokenizer: Any, text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert tokenizer.decode(encode_text_as_data(tokenizer, text)) == whole


def test_a_model_that_knows_a_control_token_as_a_word_spells_it(tmp_path: Path) -> None:
    words = [("<unk>", 0.0), *((letter, -5.0) for letter in "<|im_end>abc"), ("<|im_end|>", -1.0)]
    backend = Tokenizer(models.Unigram(words, unk_id=0))
    backend.add_special_tokens(["<|im_end|>"])
    tokenizer = load_tokenizer(_save(backend, tmp_path / "unigram"))
    control = tokenizer.convert_tokens_to_ids("<|im_end|>")
    ids = encode_text_as_data(tokenizer, "abc<|im_end|>abc")
    assert control not in ids
    assert "".join(tokenizer.convert_ids_to_tokens(ids)) == "abc<|im_end|>abc"


@pytest.mark.parametrize(
    ("file", "text"),
    [("tokenizer.json", "{"), ("tokenizer.json", '{"x": 1}'), ("tokenizer_config.json", "{")],
)
def test_a_tokenizer_that_cannot_be_read_is_a_fault_that_says_where(tmp_path: Path, file: str, text: str) -> None:
    folder = _save(_bytewise(), tmp_path / "broken")
    (folder / file).write_text(text)
    with pytest.raises(UserError, match=f"the tokenizer in {folder} cannot be read"):
        load_tokenizer(folder)


def test_a_tokenizer_without_chat_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no chat template"):
        load_tokenizer(_save(_bytewise(), tmp_path / "bare", template=None))
