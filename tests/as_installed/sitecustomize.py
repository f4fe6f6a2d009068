"""Hides from a Python what users do not have installed: libraries that tests need for reference alone.

On the PYTHONPATH of whatever tests start. vLLM and transformers load what they find, and scikit-learn with most of
SciPy is a sixth of what an engine computes until it is up.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

FOR_REFERENCE = {"scipy", "sklearn"}


class AsInstalled(PathFinder):
    """Finds modules as Python does, but for those."""

    @classmethod
    def find_spec(cls, fullname: str, *where: Any, **more: Any) -> ModuleSpec | None:
        return None if fullname in FOR_REFERENCE else super().find_spec(fullname, *where, **more)


sys.meta_path[sys.meta_path.index(PathFinder)] = AsInstalled
