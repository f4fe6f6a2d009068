"""Base models and adapters by name."""
