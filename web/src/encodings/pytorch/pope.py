import math

import torch

theta = 10000.0
heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


q = torch.nn.functional.softplus(ramp(heads, 1, dim).double())
k = torch.nn.functional.softplus(ramp(heads, keys, dim).double())
phases = ramp(heads, dim).clamp(-2 * math.pi, 0)[:, None]
frequency = theta ** (-torch.arange(dim, dtype=torch.float64) / dim)
distance = torch.arange(keys)[:, None] - (keys - 1)
scores = (q * k * torch.cos(distance * frequency + phases)).sum(-1) / dim**0.5
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
