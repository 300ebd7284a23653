"""Mistakes of the noise of an estimate, by its law or by given normals."""
