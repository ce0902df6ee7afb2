import math

import torch

maxDistance = 128
buckets = 0
terms = "both"
heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


def row(relative):
    if buckets:
        middle = buckets // 2
        away = relative.abs().clamp(min=middle)
        share = torch.log(away / middle) / math.log((maxDistance - 1) / middle)
        far = torch.ceil(share * (middle - 1)).long() + middle
        relative = torch.where(relative.abs() <= middle, relative, far * relative.sign())
    span = buckets or maxDistance
    return (relative + span).clamp(0, 2 * span - 1)


def projected(table, weight):
    return (table @ weight.T).reshape(len(table), heads, dim).transpose(0, 1)


q = ramp(heads, 1, dim)
k = ramp(heads, keys, dim)
table = ramp(2 * (buckets or maxDistance), dim)
weight = ramp(heads * dim, dim)  # W_k and W_q are the same ramp
rows = projected(table, weight)[:, row(keys - 1 - torch.arange(keys))]
scores, count = (q * k).sum(-1), 1
if terms != "p2c":
    scores, count = scores + (q * rows).sum(-1), count + 1
if terms != "c2p":
    scores, count = scores + (k * rows).sum(-1), count + 1
scores = scores / (count * dim) ** 0.5
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
