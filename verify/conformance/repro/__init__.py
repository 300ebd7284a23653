"""What to paste: scripts that show a deviation on the smallest problem, run again and kept as tests."""
