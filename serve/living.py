"""Whether a judge lives, as Ray Serve sees it.

A call that no replica can take waits in its handle without an error, and so does one that a slow replica works on:
whoever waits asks here which of the two it is. That a replica's engine works is what its health check tells Serve.
"""

from __future__ import annotations

from typing import Any

from ray import serve
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.serve.exceptions import RayServeException


def judge_lives(handle: Any) -> bool:
    """Whether at least one replica behind the handle runs; not when Serve itself gives no answer."""
    try:
        application = serve.status().applications.get(handle.app_name)
    except (RayError, RayServeException):
        return False
    deployment = application.deployments.get(handle.deployment_name) if application else None
    return deployment is not None and deployment.replica_states.get("RUNNING", 0) > 0


def died(error: BaseException) -> bool:
    """Whether the judge's replica, or the engine inside a living one, died while it had the call."""
    cause = cause_of(error)
    return isinstance(cause, RayActorError) or type(cause).__name__ == "EngineDeadError"


def cause_of(error: BaseException) -> BaseException:
    """What was raised where the call was worked on."""
    return error.cause if isinstance(error, RayTaskError) else error
