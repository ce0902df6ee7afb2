import torch

gridHeight = 1
gridWidth = 0  # 0: as many columns as the tokens need
prefixTokens = 0
targetHeight = 0  # 0: as the grid
targetWidth = 0
antialias = False
length, dim, position = 6, 8, 3


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


columns = gridWidth or -(-(length - prefixTokens) // gridHeight)
table = ramp(prefixTokens + gridHeight * columns, dim)
size = (targetHeight or gridHeight, targetWidth or columns)
if size != (gridHeight, columns):
    grid = table[prefixTokens:].reshape(1, gridHeight, columns, dim).permute(0, 3, 1, 2)
    grid = torch.nn.functional.interpolate(grid, size=size, mode="bicubic", antialias=antialias)
    table = torch.cat((table[:prefixTokens], grid.permute(0, 2, 3, 1).reshape(-1, dim)))
row = table[position]
print(" ".join(f"{value:.6f}" for value in row.tolist()))
