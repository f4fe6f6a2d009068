"""Store URLs: one line that says where the catalogue is and where the data files lie, never a password.

``ducklake:sqlite:PATH`` keeps everything on one machine; ``ducklake:postgres:DSN`` puts the catalogue on a server, with
the data files in a folder or bucket named by ``?data_path=``. The rest of the store does not know which one it got.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from excam.fault import UserError
from excam.place import PASSWORD, refuse_password

DEFAULT_URL = "ducklake:sqlite:./excam-store/catalog.sqlite"
PASSWORD_VARIABLE = "EXCAM_STORE_PASSWORD"

# What libpq is told where the user does not say otherwise: a server that does not answer, or whose machine is gone, is
# an error after some time instead of a wait without end. In seconds; tcp_user_timeout counts milliseconds.
_CONNECT_SECONDS = "10"
_PATIENCE = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}

_FORMS = "ducklake:sqlite:PATH or ducklake:postgres:DSN?data_path=FOLDER"
_SECRET = re.compile(r"password|secret|scram_", re.IGNORECASE)  # in names such as sslpassword; a passfile is none
_KEYWORD = re.compile(r"\s*(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']*)(?=\s|$)", re.DOTALL)


def quote(text: str) -> str:
    """A text as an SQL string literal, for the statements that take no parameters (ATTACH, LOAD, COPY)."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class StoreUrl:
    """Where a store is. ``str()`` gives it back in a form that is safe to print and to log."""

    catalogue: str
    path: Path | None = None
    dsn: tuple[tuple[str, str], ...] = ()
    data_path: str | None = None

    @classmethod
    def parse(cls, url: str) -> StoreUrl:
        body = url.strip()
        if "\0" in body:
            raise UserError("the store URL holds a NUL character", "remove it")
        if body.startswith("ducklake:sqlite:"):
            return _sqlite(body.removeprefix("ducklake:sqlite:"))
        for prefix in ("ducklake:postgres:", "ducklake:postgresql:"):
            if body.startswith(prefix):
                return _postgres(body.removeprefix(prefix))
        if body.startswith(("postgres:", "postgresql:", "ducklake:")):
            raise UserError("the store URL names no catalogue this version knows", f"write it as {_FORMS}")
        if "://" in body or "=" in body or PASSWORD.match(body):  # another kind of address, which may hold a password
            raise UserError("this is no store URL", f"write it as {_FORMS}")
        example = f"ducklake:sqlite:{body.removeprefix('sqlite:')}"
        raise UserError(f"not a store URL: {body!r}", f"write it as {_FORMS}, for example {example}")

    @property
    def catalogue_target(self) -> str:
        """What DuckDB attaches: a path or a libpq connection string, without a password."""
        if self.path is not None:
            return str(self.path)
        patience = _PATIENCE | {"connect_timeout": os.environ.get("PGCONNECT_TIMEOUT", _CONNECT_SECONDS)}
        return _keyed(patience | dict(self.dsn))

    @property
    def heartbeat_target(self) -> str:
        """Where heartbeats go: beside a SQLite catalogue, so that a beat never collides with a commit."""
        return f"{self.path}-lease" if self.path is not None else self.catalogue_target

    def password(self) -> str | None:
        """The password from the environment; PGPASSWORD and passfile are read by libpq itself."""
        return os.environ.get(PASSWORD_VARIABLE) if self.catalogue == "postgres" else None

    def __str__(self) -> str:
        beside = self.path is not None and self.data_path == _beside(self.path)
        data = f"?data_path={self.data_path}" if self.data_path and not beside else ""
        return f"ducklake:{self.catalogue}:{self.path or _keyed(dict(self.dsn))}{data}"


def _sqlite(body: str) -> StoreUrl:
    name, _, data = body.partition("?data_path=")
    if "://" in name:
        raise UserError(
            "a SQLite catalogue is a file on a disk, and the store URL names an address",
            "write it as ducklake:sqlite:PATH?data_path=ADDRESS, or take a PostgreSQL catalogue",
        )
    path = _absolute(name)
    if not name or not path.name:  # nothing, or the root of the file system
        raise UserError("the store URL names no file", f"write it as ducklake:sqlite:PATH, for example {DEFAULT_URL}")
    return StoreUrl("sqlite", path=path, data_path=_folder(data) if data else _beside(path))


def _postgres(body: str) -> StoreUrl:
    if body.startswith("//"):
        dsn = _uri(body)
        data = dsn.pop("data_path", "")
    else:
        text, _, data = body.partition("?data_path=")
        dsn = _keywords(text)
        data = unquote(data)
    if secret := next(filter(_SECRET.search, dsn), None):
        file = "put it into a connection service file and name its service=NAME"
        known = f"set PGPASSWORD or {PASSWORD_VARIABLE}, or name a passfile=FILE"
        raise UserError(
            f"the store URL holds a secret, {secret}, which would end up in logs and process lists",
            f"take it out and {known if secret.lower() == 'password' else file}",
        )
    return StoreUrl("postgres", dsn=tuple(dsn.items()), data_path=_folder(data) if data else None)


def _uri(body: str) -> dict[str, str]:
    try:
        parts = urlsplit(f"postgres:{body}")
        port = parts.port
    except ValueError:
        raise _unreadable() from None
    named = {
        "host": parts.hostname,
        "port": str(port) if port else None,
        "user": parts.username and unquote(parts.username),
        "password": parts.password,
        "dbname": unquote(parts.path.lstrip("/")),
    }
    return {key: value for key, value in named.items() if value} | dict(parse_qsl(parts.query))


def _unreadable() -> UserError:
    return UserError(
        "the PostgreSQL part of the store URL is neither a list of key=value nor a URI",
        "write it as ducklake:postgres:host=HOST dbname=NAME user=USER?data_path=FOLDER",
    )


def _keywords(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while text[position:].strip():
        match = _KEYWORD.match(text, position)
        if match is None:
            raise _unreadable()
        value = match[2]
        found[match[1]] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith("'") else value
        position = match.end()
    return found


def _keyed(dsn: dict[str, str]) -> str:
    return " ".join(f"{key}={_libpq(value)}" for key, value in dsn.items())


def _libpq(value: str) -> str:
    if re.fullmatch(r"[\w./:@+-]+", value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _beside(catalogue: Path) -> str:
    return str(catalogue.with_suffix(".data"))


def _folder(data_path: str) -> str:
    """An object store's address as it stands, a local folder as an absolute path."""
    refuse_password(data_path)
    return data_path.rstrip("/") if "://" in data_path else str(_absolute(data_path))


def _absolute(path: str) -> Path:
    try:
        return Path(path).expanduser().resolve()
    except RuntimeError as error:
        raise UserError(f"the path {path!r} cannot be resolved: {error}", "write it out in full") from None
