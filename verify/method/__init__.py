"""The method as data: its lines as formulas, single edits of them, and what plays them."""
