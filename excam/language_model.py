"""py3langid's model with the languages we tell apart, ready to use, from the cache.

Its package holds it compressed with LZMA; to unpack it and choose the languages takes a second a process.
"""

from __future__ import annotations

import zipfile
from array import array
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from excam.kept import keep, kept_file

FORM = 1
_WORDS = {2: "H", 4: "I"}  # how an array of so many bytes an item is called


def load_identifier(left_out: frozenset[str]) -> Any:
    """An identifier of all languages with a code of two letters but these, that says how sure it is."""
    name = "-".join([version("py3langid"), str(FORM), *sorted(left_out)])
    path = kept_file("languages", f"{name}.npz")
    try:
        return _read(path)
    except (OSError, EOFError, ValueError, LookupError, zipfile.BadZipFile):
        made = _make(left_out)
        keep(path, lambda draft: _write(draft, made))
        return made


def _make(left_out: frozenset[str]) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([label for label in identifier.labels if len(label) == 2 and label not in left_out])
    # It comes in half precision, and choosing languages puts it in column order; rows are read, and this is faster.
    identifier.nb_ptc = np.ascontiguousarray(identifier.nb_ptc, dtype=np.float32)
    return identifier


def _write(path: Path, identifier: Any) -> None:
    np.savez(
        path,
        table=identifier.nb_ptc.astype(np.float16),
        priors=identifier.nb_pc,
        labels=np.array(identifier.nb_classes),
        moves=np.asarray(identifier.tk_nextmove),
        rows=np.asarray(identifier.tk_row),
        features=np.array(identifier.tk_output, dtype=np.int32),
    )


def _read(path: Path) -> Any:
    from py3langid.langid import LanguageIdentifier

    with np.load(path, allow_pickle=False) as kept:
        moves, rows = (array(_WORDS[words.itemsize], words.tobytes()) for words in (kept["moves"], kept["rows"]))
        labels, features = kept["labels"].tolist(), kept["features"].tolist()
        table = kept["table"].astype(np.float32)
        return LanguageIdentifier(table, kept["priors"], labels, moves, features, norm_probs=True, tk_row=rows)
