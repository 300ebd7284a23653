"""What the record's content hashes to; written with it by ``f2csa prove --record``."""

DIGEST = "22bee2172c1f754ff24e2cb4a6b259573618da8cebced42c0005dfa68e555ade"
