"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "15c9fd023a62579b7942400c50d7ddd3022306c91c206b6f02300a2436af7c0e"
