"""The report as a small site: a front page that can be mailed alone, and pages that it links to."""
