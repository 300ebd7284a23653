"""The pages as a program: schedules, solve, trace."""
