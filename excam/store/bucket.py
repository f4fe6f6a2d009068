"""Data files in a bucket: DuckDB is given what the AWS tools and Arrow find in the environment by themselves.

One set of variables (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_SESSION_TOKEN``, ``AWS_REGION``,
``AWS_ENDPOINT_URL`` for servers other than Amazon's) thus serves logs, staged files, the lake and backups. Without keys
DuckDB's aws extension looks where a role of a machine or a pod puts them.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from excam.fault import UserError
from excam.store.url import quote


def s3_secret() -> str:
    """The statement that tells DuckDB how to reach buckets; keys stay in memory, in a secret that is never written."""
    key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if bool(key) != bool(secret):
        raise UserError(
            "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set", "set both, or neither to use a role"
        )
    options = {"KEY_ID": key, "SECRET": secret, "SESSION_TOKEN": os.environ.get("AWS_SESSION_TOKEN")} if key else {}
    options["REGION"] = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UserError(f"AWS_ENDPOINT_URL is {endpoint!r}", "write it as https://HOST or http://HOST:PORT")
        options |= {"ENDPOINT": parts.netloc, "URL_STYLE": "path", "USE_SSL": str(parts.scheme == "https").lower()}
    given = ", ".join(f"{name} {quote(value)}" for name, value in options.items() if value)
    provider = "config" if key else "credential_chain"
    return f"CREATE SECRET bucket (TYPE s3, PROVIDER {provider}{', ' if given else ''}{given})"


def has_keys() -> bool:
    """Whether the environment holds keys; else they are looked for where a role leaves them."""
    return bool(os.environ.get("AWS_ACCESS_KEY_ID"))
