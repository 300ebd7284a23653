"""Reports of several programs side by side."""
