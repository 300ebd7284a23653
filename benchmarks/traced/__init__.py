"""Whether the lines that ``conform --trace`` names are those of the mistakes."""
