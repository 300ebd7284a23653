"""The paper annotated: its assertions beside a run, and the code of its algorithms."""
