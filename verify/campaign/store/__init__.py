"""Finished results: what each depends on, kept in one file as they come, cut into shards, merged and reported."""
