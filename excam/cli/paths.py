"""Paths of this machine on the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class LocalPath(click.Path):
    """A file or folder of this machine.

    An address is refused, for it would become a folder called ``s3:`` here, and so is an empty name, as an unset
    variable of a script gives it, for it would be the folder one stands in.
    """

    def __init__(self, **checks: bool) -> None:
        super().__init__(path_type=Path, **checks)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        name = os.fspath(value)
        if not name.strip():
            self.fail("the name is empty; is a variable unset?", param, ctx)
        if "://" in name:
            self.fail("this is an address, and a path of this machine is needed", param, ctx)
        return super().convert(os.path.expanduser(name), param, ctx)
