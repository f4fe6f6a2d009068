"""``excam dashboard``: the store in a browser."""

from __future__ import annotations

import os
from pathlib import Path

import click

from excam.cli.options import store_option
from excam.cli.paths import LocalPath

FILE = LocalPath(dir_okay=False)


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Any other than loopback needs a token.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(1, 65535))
@click.option("--tokens", type=FILE, help="YAML file of people: name, role (read or review) and sha256 of a token.")
@click.option("--audit", type=FILE, help="Add who viewed or exported which reports to this file, as lines of JSON.")
def dashboard(store: str, host: str, port: int, tokens: Path | None, audit: Path | None) -> None:
    """Show the store in a browser until Ctrl-C: error rates, countries, reports, comparisons, runs.

    Reached from this machine alone it asks for nothing. To let others in, bind another --host and set EXCAM_TOKEN
    (may review) and EXCAM_READ_TOKEN (may only read).
    """
    import uvicorn

    from excam.fault import UserError
    from excam.store.url import StoreUrl
    from serve.dashboard.access import Access
    from serve.dashboard.app import build_dashboard
    from serve.dashboard.audit import Audit

    StoreUrl.parse(store)
    access = Access.from_environment(os.environ, tokens)
    access.check_binding(host)
    if audit is not None and not audit.parent.is_dir():
        raise UserError(f"there is no folder {audit.parent}", "create it, or name another file for --audit")
    app = build_dashboard(store, access, Audit(audit), warm=True)
    click.echo(f"dashboard at http://{host}:{port}/ (Ctrl-C ends it)")
    uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False)
