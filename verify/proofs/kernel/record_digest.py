"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "535c6d567a3e516064d713d9622799cc005a6d3d12f1d2c50c4f1a395f6843a3"
