"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "5cec8fea0500080958345a8a5e4402bf7772a4a2cf53dbc1ee491cda8b0cc000"
