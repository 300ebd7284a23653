"""The paper's two experiments and one of ours: methods side by side on equal budgets."""
