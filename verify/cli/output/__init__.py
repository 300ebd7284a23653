"""Where commands write: the terminal, streams that may close, a CI job, a run's folder."""
