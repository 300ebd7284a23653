"""What checks share: a case, its premises, runs and samples."""
