"""The ``excam`` command. Commands are loaded when they are called, so that help answers at once and needs nothing."""

from __future__ import annotations

import importlib
import os
import sys
from io import TextIOWrapper
from typing import Any

import click

from excam.fault import UserError

COMMANDS = {
    "score": "Judge the pairs in Parquet logs and keep the verdicts in a store.",
    "stream": "Judge a Kafka topic as it grows, and tell how far it is.",
    "produce": "Write a Parquet log to a Kafka topic, for trials and load tests.",
    "rescore": "Judge everything in the store again with another judge; old verdicts stay.",
    "trends": "Error rates over time by country, language, type, severity, model or app.",
    "worst": "List the gravest reports.",
    "show": "Show one pair with its errors marked in the text.",
    "dashboard": "Show the store in a browser: trends, countries, reports, comparisons.",
    "alerts": "Be told when a rate is too high or rises, records fail, or traffic stops.",
    "dead-letters": "List, show and replay records that could not be judged.",
    "judge": "Tell who the judge is, try it on a pair, or serve it over HTTP.",
    "judges": "List the judges whose verdicts are in the store.",
    "runs": "List the runs that wrote to the store.",
    "store": "Create, describe, compact, back up or restore a store, or delete pairs from it.",
    "plan": "Tell how many GPUs, hours and bytes a traffic needs, and how sure that is.",
    "models": "List, fetch and describe base models.",
    "train": "Train an adapter for a base model with Ray Train.",
    "adapters": "List, describe, pull and publish adapters.",
    "gate": "Train and measure the gate that keeps ordinary traffic from the judge.",
    "evaluate": "Measure a judge on ExCAM40k as the paper does, and compare two.",
    "dataset": "Build ExCAM40k, the data the judge is trained and measured on.",
    "sample": "Write the bundled sample log to a Parquet file.",
}

EXTRAS = {
    "confluent_kafka": "stream",
    "datasketch": "dataset",
    "nltk": "dataset",
    "scipy": "dev",
    "sklearn": "dev",
    "uvicorn": "dashboard",
}
"""The extra that brings a package, where it is not the judge's."""


class LazyGroup(click.Group):
    """Knows every command's name and one line of help; imports a command's module only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(importlib.import_module(f"excam.cli.{name}"), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; where machines read, what click would say in words is told as an event too."""
        if not os.environ.get("EXCAM_LOG"):
            return super().invoke(ctx)
        from excam.logs import event, start_logging

        start_logging()
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            asked = error.ctx.command_path if error.ctx else "excam"
            raise UserError(error.format_message(), f"see {asked} --help") from error
        except click.ClickException as error:
            raise UserError(error.format_message()) from error
        except (KeyboardInterrupt, EOFError, click.Abort) as error:
            event("interrupted", 30)
            raise click.exceptions.Exit(1) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="excam")
def cli() -> None:
    """Find cultural errors in your chatbot's traffic.

    Start with `excam score LOGS --store URL`, then ask `excam trends --by country`. EXCAM_LOG=json writes a log for
    machines to stderr.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; what a user can mend prints what is wrong and how to mend it, and ends with status 2."""
    _open_closed_streams()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # not every terminal takes every letter
    try:
        try:
            return cli.main(args=arguments, prog_name="excam", standalone_mode=True)
        finally:
            sys.stdout.flush()
    except UserError as error:
        tell(error)
    except OSError as error:
        _tell_refusal(error)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        judge = "install the judge with: pip install 'excam[cpu]' (or 'excam[gpu]' on a machine with a GPU)"
        fix = f"pip install 'excam[{extra}]'" if extra else judge
        tell(UserError(f"this command needs the package {error.name}, which is not installed", fix))
    except Exception as error:
        from excam.cli.os_fault import not_text, refused_by_kafka, unreadable_store

        garbled = not_text(sys.argv[1:] if arguments is None else arguments)
        known = unreadable_store(error) or refused_by_kafka(error) or garbled
        if known is None:
            from excam.logs import log, started

            if not started():
                raise
            log.critical("crashed", exc_info=error)
            sys.exit(1)
        tell(known)
    sys.exit(2)


def _open_closed_streams() -> None:
    """Whoever starts us may close these: the next file opened would get the number, and all that is printed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as the process lives


def _tell_refusal(error: OSError) -> None:
    """Say what the operating system refused; whoever closed a pipe has read enough and is told nothing."""
    from excam.cli.os_fault import drop_output, explained

    try:
        sys.stdout.flush()
    except OSError:
        drop_output()
    if isinstance(error, BrokenPipeError):
        sys.exit(1)
    tell(explained(error))


def tell(error: UserError) -> None:
    """What a user can mend, on stderr: for people, or as an event where machines read it."""
    from excam.logs import event, started

    if started():
        event("failed", 40, error=error.message, fix=error.fix)
    else:
        from excam.cli.printable import printable

        click.echo(f"excam: {printable(str(error), lines=True)}", err=True)
