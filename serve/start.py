"""Start the judge on a laptop, or find it on a cluster: the same handle for whoever calls."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from excam.background import in_background
from excam.fault import UserError
from excam.judge_card import JudgeCard
from excam.memory import few_heaps
from serve.local_ray import start_here
from serve.settings import JudgeSettings

APPLICATION = "excam-judge"
SPARE_CPUS = 1.0  # what reading, screening and staging need beside the judge; with less Ray Data waits for ever


def start_ray(address: str | None = None) -> None:
    """Join the cluster named (or the one in RAY_ADDRESS), else start Ray on this machine, quietly and on loopback."""
    import ray

    if ray.is_initialized():
        return
    few_heaps()
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"log_to_driver": bool(os.environ.get("EXCAM_RAY_LOGS")), "logging_level": "ERROR"}
    with _own_sigterm():
        if address or os.environ.get("RAY_ADDRESS"):
            ray.init(address=address or "auto", **quiet)
            return
        start_here(num_cpus=max(2, os.cpu_count() or 1), **quiet)
    keep_token_private()


def keep_token_private() -> None:
    """Let nobody else on this machine read Ray's token: its ports listen everywhere, and the token runs code there."""
    token = Path.home() / ".ray" / "auth_token"
    if token.is_file() and token.stat().st_mode & 0o077:
        token.chmod(0o600)


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Ray puts a handler of its own in place of whatever a run does on SIGTERM: a run that has one keeps it."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if callable(before) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def start_judge(
    settings: JudgeSettings,
    *,
    http: tuple[str, int] | None = None,
    waiting: Callable[[float], None] | None = None,
) -> tuple[Any, JudgeCard]:
    """Bring the judge up (or take the one that already runs with this identity) and wait until it is healthy.

    ``http`` adds the HTTP face at this host and port; ``waiting`` is called with the seconds waited so far, so that a
    terminal can show that loading a model takes its time.
    """
    import ray
    from ray import serve

    from serve.deployment import judge_deployment
    from serve.identity import card_for_driver

    if http is not None and not (ray.is_initialized() or os.environ.get("RAY_ADDRESS")):
        _check_port(*http)
    start_ray()
    card = card_for_driver(settings)
    name = f"{APPLICATION}-{card.judge_version}"
    status = serve.status().applications.get(name)
    if http is None and status is not None and status.status == "RUNNING":
        return serve.get_app_handle(name), card
    _check_room(settings)
    if http is None:
        serve.start(proxy_location="Disabled")
        application, route = judge_deployment(settings), None
    else:
        from serve.api import api_application
        from serve.guard import check_binding, token_in

        host, port = http
        check_binding(host, token_in(os.environ))
        serve.start(http_options={"host": host, "port": port})
        application, route = api_application(settings, card), "/"
    running = in_background(lambda: serve.run(application, name=name, route_prefix=route), "excam-start-judge")
    begun = time.monotonic()
    while not running.done():
        if waiting:
            waiting(time.monotonic() - begun)
        time.sleep(0.2)
    try:
        return running.result(), card
    except RuntimeError as error:
        fix = "set EXCAM_RAY_LOGS=1 to see the engine's own output"
        raise UserError(f"the judge did not start: {error}", fix) from error


def _check_port(host: str, port: int) -> None:
    """Refuse a port of this machine that is taken, before Ray starts and says so in a traceback of its own."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        raise UserError(
            f"the judge cannot listen on port {port} of {host}: {error.strerror}", "choose another with --port"
        ) from error


def _check_room(settings: JudgeSettings) -> None:
    import ray

    cpus = ray.cluster_resources().get("CPU", 0.0)
    needed = settings.replicas.min * settings.replicas.cpus + SPARE_CPUS
    if cpus < needed:
        raise UserError(
            f"this Ray cluster has {cpus:g} CPUs; the judge and the stages beside it need {needed:g}",
            "give Ray more CPUs, or lower replicas.cpus in the judge settings",
        )
