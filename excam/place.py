"""Where files lie: a path of this machine, or an address in a bucket whose names are taken as they are.

Arrow reads an address as a URI, in which a blank, a bracket or any letter beyond ASCII must be written in another way,
though keys of a bucket hold all of them and nobody lists, stores or types them so.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from excam.fault import UserError

if TYPE_CHECKING:
    import pyarrow.fs as fs

PASSWORD = re.compile(r"[^/?@\[]*:(?!\d+(/|$))[^@]*@")  # name:password@host, but not host:port/name@version
SECRET = re.compile(r"[?&][^=&]*(password|secret)[^=&]*=", re.IGNORECASE)  # an option such as client_secret
WHERE_PASSWORDS_GO = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "abfs": "AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET",
}


def refuse_password(place: str) -> None:
    """Refuse an address with a password in it: the address of a log is kept beside its verdicts and shown to many."""
    scheme, _, rest = place.partition("://")
    if PASSWORD.match(rest) or SECRET.search(rest):
        variables = WHERE_PASSWORDS_GO.get(scheme, f"FSSPEC_{scheme.upper()}_PASSWORD")
        raise UserError(
            f"an address that begins with {scheme}:// holds a password",
            f"take it out, and set {variables} in the environment",
        )


def require_place(place: str, what: str) -> None:
    """Refuse an empty name, as an unset variable of a script gives it: it would be the folder one stands in, or /."""
    if not place.strip():
        raise UserError(f"the {what} has an empty name", "write its path or address; is a variable unset?")


def open_place(place: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or address and the path inside it; what follows ``?`` are options, if it has any."""
    import pyarrow.fs as fs

    refuse_password(place)
    scheme, separator, rest = place.partition("://")
    if not separator:
        return fs.LocalFileSystem(), os.path.expanduser(place)
    where, mark, options = rest.partition("?")
    if "=" not in options:
        where, mark, options = rest, "", ""
    host, slash, path = where.partition("/")
    written = quote(path, safe="/%" if scheme == "file" else "/")
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(f"{scheme}://{host}{slash}{written}{mark}{options}")
    return found
