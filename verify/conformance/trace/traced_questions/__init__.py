"""Questions of which every quantity on the way to the answer is known."""
