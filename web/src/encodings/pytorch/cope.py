import torch

positions = 64
heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


q = ramp(heads, 1, dim)
k = ramp(heads, keys, dim)
table = ramp(positions, dim)
content = (q * k).sum(-1) / dim**0.5
gates = torch.sigmoid(content)
count = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=positions - 1)
products = q[:, 0] @ table.T
below, above = count.floor().long(), count.ceil().long()
share = count - below
scores = content + (1 - share) * products.gather(-1, below) + share * products.gather(-1, above)
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
