"""The paper's two experiments and two of ours: methods side by side on equal budgets, or at equal errors."""
