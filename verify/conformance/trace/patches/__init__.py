"""Small changes of a user's source, each run: one that puts every wrong question right says what belongs where."""
