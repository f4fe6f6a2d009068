"""Ray on this machine, started with patience: a busy machine or a laptop that slept is not a dead node."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from excam.fault import UserError

TRIES = 6
TOO_LATE = "timed out during startup"  # what Ray says after a fixed half minute, which a busy machine may need
# The only node there is: to declare it dead after a minute of silence helps nobody.
PATIENT = {"RAY_health_check_failure_threshold": "40", "RAY_health_check_timeout_ms": "60000"}


def start_here(**options: Any) -> None:
    """Start Ray's processes on this machine; begin anew, without the ones of before, if they were too slow for Ray.

    Ray gives up a node that needs longer than half a minute, and leaves what it had started of it behind. Where that
    happens again and again, whoever waits is told that the machine has no time for Ray.
    """
    import psutil
    import ray

    for name, value in PATIENT.items():
        os.environ.setdefault(name, value)
    before = set(psutil.Process().children())
    for _ in range(TRIES):
        try:
            ray.init("local", include_dashboard=False, _node_ip_address="127.0.0.1", **options)
            return
        except Exception as error:
            if TOO_LATE not in str(error):
                raise
            for left in set(psutil.Process().children()) - before:
                with suppress(psutil.NoSuchProcess):
                    left.kill()
                    left.wait()
    raise UserError(
        f"Ray did not come up on this machine in {TRIES} tries of half a minute",
        "the machine is very busy: end other work on it, or name a Ray cluster that runs in RAY_ADDRESS",
    )
