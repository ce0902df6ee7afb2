import math

import torch

base = 10000.0
layout = "concatenated"
firstAxis = "x"
coordinates = "index"
gridHeight = 1
gridWidth = 0  # 0: all tokens in one row
prefixTokens = 0
dim, position = 8, 3


def half(index, cells):
    at = index if coordinates == "index" else 2 * math.pi * (index + 1) / (cells + 1e-6)
    k = torch.arange(dim // 4, dtype=torch.float64)
    angle = at * base ** (-4 * k / dim)
    if layout == "concatenated":
        return torch.cat((angle.sin(), angle.cos()))
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten()


place = position - prefixTokens
y, x = divmod(place, gridWidth) if gridWidth else (0, place)
halves = [half(x, gridWidth), half(y, gridHeight)]
if firstAxis == "y":
    halves.reverse()
row = torch.cat(halves)
if place < 0:
    row = torch.zeros_like(row)
print(" ".join(f"{value:.6f}" for value in row.tolist()))
