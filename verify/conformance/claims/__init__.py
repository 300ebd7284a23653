"""A subject's claims judged beside the reference's, and what went wrong in how they were met."""
