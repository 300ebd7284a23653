"""A finished run in the formats of others: Markdown, JUnit, SARIF, tables, terminals, badges and documents."""
