"""The paper's own inferences: nothing is run."""
