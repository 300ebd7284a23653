"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "64475f260e42b88e2afe4451c287e6b23bee64cbf86f8a41f6bde3c7d3306b38"
