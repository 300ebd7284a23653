"""What the report's data are made of, each known to nothing else of the report."""
