"""Subjects in any language: JSON-RPC 2.0, one message a line, over a program's standard streams (docs/wire.md)."""
