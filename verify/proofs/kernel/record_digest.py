"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "b03eb3148998ed4e84beb46fb86cbf8de67c7de79cf017c14428c59a51403f31"
