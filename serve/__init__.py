"""The judge behind Ray Serve: vLLM with the adapter, a typed batch method for pipelines and an HTTP face."""
