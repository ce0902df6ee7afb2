import torch

heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


q = ramp(heads, 1, dim)
k = ramp(heads, keys, dim)
gates = ramp(heads, keys) - 1  # log sigmoid(w . x + b) of each token
until = gates.cumsum(-1)
bias = until[:, -1:] - until
scores = (q * k).sum(-1) / dim**0.5 + bias
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
