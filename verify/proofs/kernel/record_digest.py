"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "fce9652d85d4d8086cae1c62d3e0361046a13c05eb3ddbec51ddfd09684ab936"
