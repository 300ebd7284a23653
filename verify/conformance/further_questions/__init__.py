"""What a subject is asked besides the built-in problems: own and drawn ones, another reading, cases to keep."""
