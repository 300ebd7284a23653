"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "8d18d300b06d48331a33a6f6b5bb5d20751469e7bc9d9efc019d62beb144a46f"
