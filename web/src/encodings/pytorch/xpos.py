import torch

theta = 10000.0
scaleBase = 512.0
layout = "interleaved"
heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


pair = torch.arange(dim // 2, dtype=torch.float64)
frequency = theta ** (-2 * pair / dim)
zeta = (2 * pair / dim + 0.4) / 1.4


def turn(x, positions):
    angle = positions[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    a, b = (x[..., 0::2], x[..., 1::2]) if layout == "interleaved" else (x[..., : dim // 2], x[..., dim // 2 :])
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1)


q = turn(ramp(heads, 1, dim).double(), torch.tensor([keys - 1.0]))
k = turn(ramp(heads, keys, dim).double(), torch.arange(keys).double())
decay = zeta ** ((keys - 1 - torch.arange(keys))[:, None] / scaleBase)
scores = ((q * k).sum(-1) * decay).sum(-1) / dim**0.5
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
