"""Alerts: rules in a YAML file, checked on the store; each fires once and clears once."""
