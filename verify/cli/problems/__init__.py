"""Commands on single problems: one point, a whole solve, an experiment, the atlas."""
