"""``/api/alerts`` and ``/metrics``: alerts that stand, for people and for monitoring."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from starlette.responses import PlainTextResponse, Response

from excam.alerts.check import Alert, standing
from serve.dashboard.state import Source

router = APIRouter(tags=["alerts"])


@router.get("/api/alerts")
def get_alerts(source: Source) -> list[Alert]:
    """Alerts that have fired and not cleared, the latest first."""
    return source.recall(standing)


@router.get("/metrics", response_class=PlainTextResponse)
def get_metrics(source: Source) -> Response:
    """The same as a gauge for Prometheus: 1 for each alert that stands."""
    registry = CollectorRegistry()
    gauge = Gauge(
        "excam_alert_standing", "Alerts that stand, by rule and subject.", ["rule", "subject"], registry=registry
    )
    untold = Gauge("excam_alert_untold", "Alerts that stand and that the webhook did not take.", registry=registry)
    alerts = source.recall(standing)
    for alert in alerts:
        gauge.labels(alert.rule, alert.subject).set(1)
    untold.set(sum(alert.problem is not None for alert in alerts))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
