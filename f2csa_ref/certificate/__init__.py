"""How far one oracle call is from the gradient of F: on one piece of it, near kinks, and for the noise."""
