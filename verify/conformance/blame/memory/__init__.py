"""What a subject takes over from an earlier call or run."""
