"""ExCAM, the explainable cultural awareness metric: pairs in, error reports and scores out; needs no Ray and no vLLM."""
