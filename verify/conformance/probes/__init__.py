"""Stage calls put to a subject: which are asked, how much is asked, what it answered, and what that shows."""
