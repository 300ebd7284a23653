"""Words, signs and numbers that pages share: what a cell shows, what a symbol means, how powers are set."""
