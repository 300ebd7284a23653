"""The estimator as a function of alpha: which one is meant, exactly, to leading order, and its noise."""
