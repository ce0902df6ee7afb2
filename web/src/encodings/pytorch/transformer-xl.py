import torch

base = 10000.0
clampLength = 65536
heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


q = ramp(heads, 1, dim)
k = ramp(heads, keys, dim)
projection = ramp(heads * dim, dim)
u = ramp(heads, dim)[:, None]
v = ramp(heads, dim)[:, None]
distance = (keys - 1 - torch.arange(keys)).clamp(max=clampLength)
frequency = base ** (-2 * torch.arange(dim // 2, dtype=torch.float64) / dim)
angle = distance[:, None] * frequency
sinusoid = torch.cat((angle.sin(), angle.cos()), dim=-1).float()
r = (sinusoid @ projection.T).reshape(keys, heads, dim).transpose(0, 1)
scores = ((q + u) * k + (q + v) * r).sum(-1) / dim**0.5
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
