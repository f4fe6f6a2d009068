"""ExCAM, the explainable cultural awareness metric: pairs in, error reports and scores out; no Ray, no vLLM."""
