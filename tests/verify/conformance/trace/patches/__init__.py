"""Tests of small changes of the source."""
