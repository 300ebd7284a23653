"""What is minimised: f, g and the rows in doubles."""
