"""What a problem file is made of: quadratic blocks, noise, arrays that stand beside it, and JSON that stays exact."""
