"""What each command takes, as data, and what is written on a command line, read."""
