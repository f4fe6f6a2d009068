"""Templates by task type: every module here that defines TEMPLATES is a task type, found by itself."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from excam.dataset.item import Task
from excam.dataset.templates.task_templates import TaskTemplates, Wording, Written


@cache
def all_templates() -> dict[Task, TaskTemplates]:
    """Every task type's templates, read from the files of this folder, in the order of their names."""
    found: dict[Task, TaskTemplates] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        templates = getattr(import_module(f"{__name__}.{module.name}"), "TEMPLATES", None)
        if isinstance(templates, TaskTemplates):
            found[templates.task] = templates
    return found


__all__ = ["TaskTemplates", "Wording", "Written", "all_templates"]
