"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "d1da3c251d0e64c9e407c34e272d0d2b6d627204a870c53fdd603d4cef8dfa87"
