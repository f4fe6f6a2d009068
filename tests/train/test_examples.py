"""Token files: rendered as the judge serves, with every decision in place however much is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from excam.fault import UserError
from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT, CulturalError, ErrorReport, Location, Severity
from train.examples import CORRECT, ERROR, Encoder, Examples, assemble


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """One token a byte, and one for each decision."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({letter: id for id, letter in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_tokens([AddedToken(text, normalized=False) for text in (" []", ' [{"', " null")])
    backend.add_special_tokens([AddedToken("<end>", normalized=False)])
    template = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}>"
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", chat_template=template)


def row(label: str, output: str, twin: str | None = "t", origin: str = "none") -> dict[str, Any]:
    error = CulturalError(
        severity=Severity.MAJOR, type="fact", location=Location.OUTPUT, span=output[:20], explanation="no, " * 20
    )
    report = {"correct": CORRECT_REPORT, "not_applicable": NOT_APPLICABLE_REPORT, "error": ErrorReport(errors=(error,))}
    pair = {"instruction": f"Ask {output[:9]}", "output": output, "label": label, "report": report[label].render()}
    return pair | {"weight": 1.0, "source": f"from {label}", "group": "q", "origin": origin, "twin_id": twin}


ROWS = [
    row("correct", "tea <end> " * 300),
    row("error", "beer " * 300, origin="hard"),
    row("not_applicable", "1", None),
]


def test_cutting_never_takes_the_decision(tokenizer: Any) -> None:
    encoder = Encoder(tokenizer, max_prompt_tokens=512, max_report_tokens=16)
    examples = assemble(ROWS, map(encoder, ROWS), encoder)
    assert examples.prompt.max() <= 512
    for index, label in enumerate(examples.label):
        tokens = examples.tokens(index)
        assert tokens[examples.decided[index]] == examples.decisions[label]
        assert len(tokens) - examples.prompt[index] <= 16
        assert tuple(tokens[examples.prompt[index] : examples.decided[index]]) == examples.opening
    assert examples.end not in examples.tokens(0)[: examples.prompt[0]]
    assert examples.tokens(2)[-1] == examples.end


def test_a_report_too_short_for_its_decision_is_refused(tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="cannot hold its decision"):
        Encoder(tokenizer, max_prompt_tokens=512, max_report_tokens=3)


def test_twins_are_one_right_and_one_wrong_version_and_share_being_hard(tokenizer: Any) -> None:
    encoder = Encoder(tokenizer, 2048, 256)
    rows = [*ROWS, row("error", "x", "alone"), row("error", "y", "both"), row("error", "z", "both")]
    examples = assemble(rows, map(encoder, rows), encoder)
    assert examples.twin.tolist() == [1, 0, -1, -1, -1, -1]
    assert examples.hard.tolist() == [True, True, False, False, False, False]
    assert (examples.label[0], examples.label[1]) == (CORRECT, ERROR)


def test_a_file_comes_back_as_it_was_saved_and_another_is_refused(tokenizer: Any, tmp_path: Path) -> None:
    encoder = Encoder(tokenizer, 2048, 256)
    examples = assemble(ROWS, map(encoder, ROWS), encoder, "fingerprint")
    examples.save(tmp_path / "train.npz")
    found = Examples.load(tmp_path / "train.npz")
    assert (found.opening, found.decisions, found.end) == (examples.opening, examples.decisions, examples.end)
    assert (found.sources, found.dataset) == (examples.sources, "fingerprint")
    assert all(np.array_equal(found.tokens(index), examples.tokens(index)) for index in range(len(examples)))
    whole = (tmp_path / "train.npz").read_bytes()
    for content in (b"no tokens", b"", whole[: len(whole) // 2], whole.replace(b"facts", b"fakts")):
        (tmp_path / "other.npz").write_bytes(content)
        with pytest.raises(UserError, match="no file of tokens"):
            Examples.load(tmp_path / "other.npz")
