"""Where files lie: a path of this machine, or an address in a bucket whose names are taken as they are.

Arrow reads an address as a URI, in which a blank, a bracket or any letter beyond ASCII must be written in another way,
though keys of a bucket hold all of them and nobody lists, stores or types them so.
"""

from __future__ import annotations

from urllib.parse import quote

import pyarrow.fs as fs


def open_place(place: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or address and the path inside it; what follows ``?`` are options, if it has any."""
    scheme, separator, rest = place.partition("://")
    if not separator:
        return fs.LocalFileSystem(), place
    where, mark, options = rest.partition("?")
    if "=" not in options:
        where, mark, options = rest, "", ""
    host, slash, path = where.partition("/")
    written = quote(path, safe="/%" if scheme == "file" else "/")
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(f"{scheme}://{host}{slash}{written}{mark}{options}")
    return found
