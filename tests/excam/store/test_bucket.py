"""What DuckDB is told about buckets, from the variables every S3 tool reads."""

from __future__ import annotations

import pytest

from excam.fault import UserError
from excam.store.bucket import has_keys, s3_secret

NAMES = "ACCESS_KEY_ID SECRET_ACCESS_KEY SESSION_TOKEN REGION DEFAULT_REGION ENDPOINT_URL ENDPOINT_URL_S3".split()


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(f"AWS_{name}", raising=False)


def test_keys_region_and_another_server_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "it's secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio:9000")
    assert has_keys()
    assert s3_secret() == (
        "CREATE SECRET bucket (TYPE s3, PROVIDER config, KEY_ID 'me', SECRET 'it''s secret', REGION 'eu-central-1', "
        "ENDPOINT 'minio:9000', URL_STYLE 'path', USE_SSL 'false')"
    )


def test_without_keys_a_role_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_keys()
    assert s3_secret() == "CREATE SECRET bucket (TYPE s3, PROVIDER credential_chain)"


@pytest.mark.parametrize(
    ("name", "value"), [("AWS_ACCESS_KEY_ID", "me"), ("AWS_SECRET_ACCESS_KEY", "x"), ("AWS_ENDPOINT_URL", "minio:9000")]
)
def test_half_of_what_is_needed_is_a_mistake_with_a_fix(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError) as refused:
        s3_secret()
    assert refused.value.fix
