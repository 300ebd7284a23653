"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "afa5e490819d2c3278caebb0225b5a0de492324edad358687824e08174a22691"
