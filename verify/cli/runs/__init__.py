"""Commands that run the checks, or take up a finished run: its report, its record, its store."""
