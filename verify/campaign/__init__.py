"""Every claim, reading and instance: what to run, running it, keeping it."""
