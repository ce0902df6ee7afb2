import math

import torch

slopes = "standard"
heads, keys = 2, 6


def standard(count):
    power = 2 ** math.floor(math.log2(count))
    first = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    more = [2 ** (-8 * (h + 1) / (2 * power)) for h in range(0, 2 * power, 2)]
    return (first + more)[:count]


m = torch.tensor(standard(heads) if slopes == "standard" else slopes)
distance = keys - 1 - torch.arange(keys)
bias = -m[:, None] * distance
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
