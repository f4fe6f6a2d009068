"""The dashboard: a JSON API on a store, and pages that show what it answers."""
