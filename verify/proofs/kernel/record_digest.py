"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "7442ffe5ae3e5bd1f5362a8cc3bcaa73eebbe7e200be100ac84ed6ecd73e3907"
