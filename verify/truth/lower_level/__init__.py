"""The lower level solved exactly, by linear complementarity, and where near a point its pieces lie."""
