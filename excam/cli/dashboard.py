"""``excam dashboard``: the store in a browser."""

from __future__ import annotations

import os

import click

from excam.cli.options import store_option


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Any other than loopback needs a token.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(1, 65535))
def dashboard(store: str, host: str, port: int) -> None:
    """Show the store in a browser until Ctrl-C: error rates, countries, reports, comparisons, runs.

    Reached from this machine alone it asks for nothing. To let others in, bind another --host and set EXCAM_TOKEN
    (may review) and EXCAM_READ_TOKEN (may only read).
    """
    import uvicorn

    from excam.store.url import StoreUrl
    from serve.dashboard.access import Access
    from serve.dashboard.app import build_dashboard

    StoreUrl.parse(store)
    access = Access.from_environment(os.environ)
    access.check_binding(host)
    click.echo(f"dashboard at http://{host}:{port}/ (Ctrl-C ends it)")
    uvicorn.run(build_dashboard(store, access), host=host, port=port, log_level="warning", server_header=False)
