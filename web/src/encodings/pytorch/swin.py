import torch

gridHeight = 1
gridWidth = 0  # 0: as many columns as the keys need
heads, keys = 2, 6


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


columns = gridWidth or -(-keys // gridHeight)
table = ramp((2 * gridHeight - 1) * (2 * columns - 1), heads)
position = torch.arange(keys)
y, x = position // columns, position % columns
down, right = y[-1] - y, x[-1] - x  # query minus key
row = (down + gridHeight - 1) * (2 * columns - 1) + right + columns - 1
bias = table[row].T
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
