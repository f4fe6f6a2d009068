"""From logs to verdicts in the store: Ray Data stages that read, screen, judge and commit, for batch and stream."""
