"""ExCAM40k: the dataset the metric is trained and judged on, built from nine published benchmarks."""
