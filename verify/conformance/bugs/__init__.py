"""A catalogue of wrong implementations: each with what it does wrong, what a user would see, and what must catch it."""
