"""What a stage computes instead of what it should, found on isolated probes, as formulas that can be run."""
