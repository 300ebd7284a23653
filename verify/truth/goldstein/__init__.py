"""Certified distance of 0 from the Goldstein subdifferential."""
