"""The fast copies: many oracle calls at once, held to the pages row by row."""
