"""What the paper's text says, at which lines: its argument, its assertions, words quoted, an extract."""
