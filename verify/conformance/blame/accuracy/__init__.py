"""How exactly a subject's solvers work, and what their answers leave of the optimality conditions."""
