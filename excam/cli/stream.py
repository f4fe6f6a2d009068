"""``excam stream``: judge a topic as it grows. ``excam stream status``: tell how far it is."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from excam.cli.aside import aside
from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.kafka_options import kafka_options
from excam.cli.numbers import Within
from excam.cli.options import json_option, store_option

if TYPE_CHECKING:
    from pipelines.stream.run import Streamed
    from pipelines.stream.settings import StreamOptions
    from pipelines.stream.successor import Successor


class Span(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A span of time: 30s, 5m, 1h."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from excam.fault import UserError
        from pipelines.stream.settings import seconds

        try:
            return value if isinstance(value, float) else seconds(str(value))
        except UserError as error:
            self.fail(error.message, param, ctx)


class Start(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """Where to begin: earliest, latest, or a moment as ISO 8601 (UTC unless it says otherwise)."""

    name = "position"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("earliest", "latest") or isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is neither earliest, latest nor a moment such as 2026-09-01T12:00", param, ctx)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


class StreamGroup(click.Group):
    """Runs the stream when no subcommand is named: options come straight after ``excam stream``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=StreamGroup)
def stream() -> None:
    """Judge a Kafka topic as it grows (`excam stream --topic …`), or tell how far it is (`excam stream status`)."""


@stream.command()
@kafka_options
@store_option
@judge_options
@click.option("--next-adapter", metavar="ADAPTER", help="Judge with this adapter too: the one to move to.")
@click.option("--next-judge-config", type=click.Path(exists=True, dir_okay=False), help="YAML of the judge to move to.")
@click.option("--mapping", type=click.Path(exists=True, dir_okay=False), help="YAML that names your fields.")
@click.option("--schema-registry", metavar="URL", help="Registry for Avro and Protobuf messages.")
@click.option("--group", default="excam", show_default=True, help="Consumer group that mirrors the store's offsets.")
@click.option(
    "--from",
    "start",
    type=Start(),
    default="earliest",
    show_default=True,
    metavar="earliest|latest|TIME",
    help="Where a topic begins that the store does not know; a known one goes on where it stands.",
)
@click.option("--rewind", is_flag=True, help="Begin at --from even where the store stands elsewhere.")
@click.option("--until-caught-up", is_flag=True, help="End when everything there at the start has its outcome.")
@click.option("--max-latency", type=Span(), default="30s", show_default=True, help="Aim from message to verdict.")
@click.option("--max-batch", type=click.IntRange(1), default=5000, show_default=True, help="Messages at once at most.")
@click.option("--sample", type=Within(0, 1, min_open=True), default=1.0, help="Share to judge, by hash.")
@click.option("--cap-per-hour", type=click.IntRange(1), help="Judge at most this many pairs of each logged hour.")
@click.option("--cap-per-country", type=click.IntRange(1), help="The same for each country by itself.")
@click.option("--always-app", multiple=True, metavar="APP", help="Judge everything of this app, above sample and caps.")
@click.option("--dead-letter-topic", metavar="TOPIC", help="Also send what cannot be judged to this topic.")
@click.option("--gate/--no-gate", default=True, show_default=True, help="Leave what is not about culture to the gate.")
@click.option("--screeners", type=click.IntRange(1), default=1, show_default=True, help="Workers that screen messages.")
@click.option("--grace", type=Span(), default="30s", show_default=True, help="What a batch in hand gets on SIGTERM.")
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve Prometheus metrics on this port.")
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="Address the metrics are served on.")
@click.option("--wait", default=0.0, metavar="SECONDS", help="Wait this long if another run holds the store.")
@json_option
def run(store: str, as_json: bool, **given: Any) -> None:
    """Judge a topic, every pair exactly once. Ctrl-C or SIGTERM stops cleanly; the next run goes on from there."""
    from excam.cli.stream_display import StreamDisplay
    from pipelines.stopping import Terminated
    from pipelines.stream.run import stream_topic

    judge = {name: given.pop(name) for name in ("base", "adapter", "threshold", "full", "judge_config")}
    successor = successor_of(judge, given.pop("next_adapter"), given.pop("next_judge_config"), quiet=as_json)
    options = _options(given)
    try:
        with StreamDisplay(quiet=as_json) as display:
            done = stream_topic(options, store, judge_settings(judge), display, successor)
    except Terminated:
        aside("stopped while starting: nothing was read")
        if as_json:
            click.echo("null")
        return
    click.echo(json.dumps(asdict(done), default=str) if as_json else _summary(done))


def successor_of(judge: dict[str, Any], adapter: str | None, config: str | None, *, quiet: bool) -> Successor | None:
    """The judge to move to: this one with another adapter, or what a file of its own says."""
    if adapter is None and config is None:
        return None
    from excam.cli.stream_display import SuccessorDisplay
    from pipelines.stream.successor import Successor

    chosen = {"judge_config": config} if config else judge
    return Successor(judge_settings(chosen | ({"adapter": adapter} if adapter else {})), SuccessorDisplay(quiet=quiet))


def _options(given: dict[str, Any]) -> StreamOptions:
    from excam.mapping import RecordMapping
    from pipelines.stream.settings import KafkaAccess, StreamOptions

    mapping = given.pop("mapping")
    return StreamOptions(
        access=KafkaAccess.load(given.pop("bootstrap"), given.pop("kafka_config")),
        mapping=RecordMapping.load(mapping) if mapping else RecordMapping(),
        registry=given.pop("schema_registry"),
        share=given.pop("sample"),
        always_apps=given.pop("always_app"),
        **given,
    )


def _summary(done: Streamed) -> str:
    tally = done.tally
    lines = [
        f"{tally.rows:,} records: {tally.judged:,} judged, {tally.reused:,} known texts, {tally.errors:,} with errors, "
        f"{tally.not_applicable:,} not about culture, {tally.skipped:,} outside the sample, "
        f"{tally.dead_letters:,} dead letters.",
        f"{done.source} stands at " + ", ".join(f"{part}:{offset}" for part, offset in sorted(done.positions.items())),
    ]
    if not done.tuned:
        lines.append("This judge is an UNTUNED base model: its verdicts show that the system works, not what is true.")
    speed = f", {tally.judged / done.seconds:.1f} pairs/s" if tally.judged and done.seconds else ""
    lines.append(f"judge {done.judge_version}, run {done.run_id}{speed}{', stopped' if done.stopped else ''}")
    return "\n".join(lines)


@stream.command()
@store_option
@click.option(
    "--bootstrap", envvar="EXCAM_KAFKA_BOOTSTRAP", metavar="HOST:PORT,…", help="Ask these brokers for the lag."
)
@click.option("--kafka-config", type=click.Path(exists=True, dir_okay=False), envvar="EXCAM_KAFKA_CONFIG")
@json_option
def status(store: str, bootstrap: str | None, kafka_config: str | None, as_json: bool) -> None:
    """How far every topic is: offsets, lag, speed, time to verdict, and what was lost."""
    from excam.cli.stream_status import print_status

    print_status(store, bootstrap, kafka_config, as_json=as_json)
