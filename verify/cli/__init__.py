"""The command line: what each command takes, as data, and what each does, imported only when used."""
