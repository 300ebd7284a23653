"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "930a71a59e5257e9c12ef821f092a52de218decf9145b695827e585677d46ced"
