import torch

base = 10000.0
layout = "interleaved"
denominator = "dim"
dim, position = 8, 3

k = torch.arange(dim // 2, dtype=torch.float64)
exponent = 2 * k / dim if denominator == "dim" else k / (dim // 2 - 1)
angle = position * base**-exponent
if layout == "interleaved":
    row = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten()
else:
    row = torch.cat((angle.sin(), angle.cos()))
print(" ".join(f"{value:.6f}" for value in row.tolist()))
