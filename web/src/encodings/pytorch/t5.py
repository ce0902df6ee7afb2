import math

import torch

buckets = 32
maxDistance = 128
bidirectional = False
heads, keys = 2, 6


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


table = ramp(buckets, heads)
relative = torch.arange(keys) - (keys - 1)
bucket, count = torch.zeros_like(relative), buckets
if bidirectional:
    count = buckets // 2
    bucket = bucket + (relative > 0) * count
    distance = relative.abs()
else:
    distance = (-relative).clamp(min=0)
exact = count // 2
far = exact + (distance.clamp(min=1) / exact).log() / math.log(maxDistance / exact) * (count - exact)
bucket = bucket + torch.where(distance < exact, distance, far.long().clamp(max=count - 1))
bias = table[bucket].T
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
