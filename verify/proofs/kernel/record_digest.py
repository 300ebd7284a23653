"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "8f53068af929cf5eccc09387c36b676a60db8fca5934645e429e5e731260fcf6"
