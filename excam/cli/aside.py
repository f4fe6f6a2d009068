"""What is worth knowing beside a command's output."""

from __future__ import annotations

import click

from excam.logs import event, started


def aside(text: str) -> None:
    """A line on stderr for people, or an event where machines read it: there every line is JSON."""
    if started():
        event("aside", text=text)
    else:
        click.echo(text, err=True)
