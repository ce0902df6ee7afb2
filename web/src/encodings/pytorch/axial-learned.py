import torch

combine = "sum"
firstAxis = "y"
gridHeight = 1
gridWidth = 0  # 0: as many columns as the tokens need
length, dim, position = 6, 8, 3


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


cells = gridWidth or -(-length // gridHeight)
width = dim if combine == "sum" else dim // 2
rows, columns = ramp(gridHeight, width), ramp(cells, width)
y, x = divmod(position, cells)
if combine == "sum":
    row = rows[y] + columns[x]
elif firstAxis == "y":
    row = torch.cat((rows[y], columns[x]))
else:
    row = torch.cat((columns[x], rows[y]))
print(" ".join(f"{value:.6f}" for value in row.tolist()))
