"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "12f911957c97c59d8b3a75f336e3c9147d76a0deebaf7bf709f7d1b47644d588"
