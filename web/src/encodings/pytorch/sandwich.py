import torch

base = 10000.0
dim = 128
heads, keys = 2, 6

distance = keys - 1 - torch.arange(keys, dtype=torch.float64)
k = torch.arange(dim // 2, dtype=torch.float64)
waves = torch.cos(distance[:, None] * base ** (-2 * k / dim)).sum(-1)
ratio = 8 * (1 + torch.arange(heads)) / heads
bias = waves / ratio[:, None]
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
