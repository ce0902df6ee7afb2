import torch

offset = 0
rows, dim, position = 6, 8, 3


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


table = torch.nn.Embedding(rows + offset, dim)
table.weight.data = ramp(rows + offset, dim)
row = table(torch.tensor(position + offset))
print(" ".join(f"{value:.6f}" for value in row.tolist()))
