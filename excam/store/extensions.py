"""DuckDB with the extensions a store needs, straight from installed packages: no download, nothing in the home folder.

DuckDB checks the signature of an extension, tens of megabytes, whenever it is loaded, which is most of the time that
opening a store takes. A library that this process has loaded stays the one it uses, so each is checked the first time.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from excam.fault import UserError
from excam.store.url import quote

_checked: set[Path] = set()


def open_duckdb(extensions: Sequence[str], config: Mapping[str, str | bool]) -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory with these extensions loaded; afterwards it takes signed ones only, whatever it took here."""
    files = [_file(name) for name in extensions]
    known = _checked.issuperset(files)
    connection = duckdb.connect(config={**config, "allow_unsigned_extensions": known})
    for file in files:
        connection.execute(f"LOAD {quote(str(file))}")
    connection.execute("SET GLOBAL allow_unsigned_extensions = false")
    _checked.update(files)
    return connection


def _file(name: str) -> Path:
    version = f"v{duckdb.__version__}"
    try:
        package = importlib.resources.files(f"duckdb_extension_{name}")
    except ModuleNotFoundError as error:
        package_name = f"duckdb-extension-{name.replace('_', '-')}"
        raise UserError(f"the package {package_name} is not installed", f"pip install {package_name}") from error
    file = Path(str(package)) / "extensions" / version / f"{name}.duckdb_extension"
    if not file.is_file():
        raise UserError(f"the {name} extension does not fit DuckDB {version}", "install the versions excam pins")
    return file
