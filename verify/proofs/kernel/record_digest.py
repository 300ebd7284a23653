"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "68eeeb7d38e8e9e14a0ae5a2d46906f3fc4efb53dc775175e1a53fbcef6017bc"
