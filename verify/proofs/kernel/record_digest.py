"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "e783269eef47bbda9647bd7c92e2ff27b950741ddd95ff04a26b4afc98f93da7"
