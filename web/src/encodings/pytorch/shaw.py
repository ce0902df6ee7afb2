import torch

maxDistance = 16
heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


q = ramp(heads, 1, dim)
k = ramp(heads, keys, dim)
table = ramp(2 * maxDistance + 1, dim)
relative = torch.arange(keys) - (keys - 1)
vectors = table[relative.clamp(-maxDistance, maxDistance) + maxDistance]
scores = (q * (k + vectors)).sum(-1) / dim**0.5
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
