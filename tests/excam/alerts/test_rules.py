"""Rules as people write them: mistakes are named, countries understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from excam.alerts.rules import Rules
from excam.fault import UserError


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("rules: []", "rules"),
        ("rules:\n- {name: a, kind: rate_above}", "needs a level"),
        ("rules:\n- {name: a, kind: magic}", "kind"),
        ("rules:\n- {name: a, kind: no_traffic}\n- {name: a, kind: no_traffic}", "same name"),
        ("a: [", "not YAML"),
        ("rules:\n- {name: a, kind: no_traffic, country: Atlantis}", "country: .*Atlantis"),
        ("rules:\n- {name: a, kind: no_traffic, by: app}", "no_traffic does not look at by"),
        ("rules:\n- {name: a, kind: no_traffic, level: 0.5, type: history}", "does not look at level or type"),
        ("rules:\n- {name: a, kind: dead_letter_share, level: 0.1, app: shop}", "does not look at app"),
        ("rules:\n- {name: a, kind: speaks_to_judge_share, level: 0.1, type: history}", "does not look at type"),
        ("rules:\n- {name: a, kind: rate_risen, level: 0.1}", "rate_risen does not look at level"),
        ("rules:\n- {name: a, kind: rate_above, level: 0.1, type: food}", "type: .*'practice'"),
        ("rules:\n- {name: é, kind: no_traffic}", "not YAML in UTF-8"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, wrong: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text, "latin-1")
    with pytest.raises(UserError, match=wrong):
        Rules.load(file)


@pytest.mark.parametrize(
    ("spelling", "code"), [("ID", "ID"), ("id", "ID"), ("Indonesia", "ID"), ("NO", "NO"), ("Norway", "NO")]
)
def test_a_rules_country_may_be_spelt_in_any_way(tmp_path: Path, spelling: str, code: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(f"rules:\n- {{name: a, kind: no_traffic, country: {spelling}}}", "utf-8")
    assert Rules.load(file).rules[0].country == code
