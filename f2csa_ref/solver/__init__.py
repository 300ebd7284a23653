"""What a run of the method needs: its schedule, its loop, its trace."""
