import math

import torch

theta = 10000.0
layout = "half"
rotaryDim = 8
order = "blocks"
frequencies = "restart"
firstAxis = "y"
coordinates = "index"
gridHeight = 1
gridWidth = 0  # 0: all tokens in one row
prefixTokens = 0
dim, position = 8, 3


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


def coordinate(index, cells):
    if coordinates == "index":
        return index
    return 2 * math.pi * ((2 * index + 1) / cells - 1)


x = ramp(dim).double()
place = position - prefixTokens
row, column = divmod(place, gridWidth) if gridWidth else (0, place)
along = [coordinate(row, gridHeight), coordinate(column, gridWidth)]
if firstAxis == "x":
    along.reverse()
m = torch.arange(rotaryDim // 4, dtype=torch.float64)
first = along[0] * theta ** (-4 * m / rotaryDim)
second = along[1] * theta ** (-(4 * m + 2 * (frequencies == "split")) / rotaryDim)
if order == "blocks":
    angle = torch.cat((first, second))
else:
    angle = torch.stack((first, second), dim=-1).flatten()
if place < 0:
    angle = torch.zeros_like(angle)
cos, sin = angle.cos(), angle.sin()
turned = x.clone()
if layout == "half":
    a, b = x[: rotaryDim // 2], x[rotaryDim // 2 : rotaryDim]
    turned[:rotaryDim] = torch.cat((a * cos - b * sin, b * cos + a * sin))
else:
    a, b = x[0:rotaryDim:2], x[1:rotaryDim:2]
    turned[:rotaryDim] = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten()
print(" ".join(f"{value:.6f}" for value in turned.tolist()))
