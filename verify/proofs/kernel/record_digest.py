"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "dc4510226f5e2cc80223800ecce4a15c1c337d12a60d930779a1b366f949bb7c"
