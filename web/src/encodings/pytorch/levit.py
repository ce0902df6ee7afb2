import torch

gridHeight = 1
gridWidth = 0  # 0: as many columns as the keys need
heads, keys = 2, 6


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


columns = gridWidth or -(-keys // gridHeight)
table = ramp(gridHeight * columns, heads)
position = torch.arange(keys)
y, x = position // columns, position % columns
row = (y[-1] - y).abs() * columns + (x[-1] - x).abs()
bias = table[row].T
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
