import torch

kind = "log"
heads, keys = 2, 6


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


r1 = 1 + ramp(heads)[:, None]
r2 = 1 + ramp(heads)[:, None]
distance = keys - 1 - torch.arange(keys)
if kind == "log":
    bias = -r1 * torch.log(1 + r2 * distance)
else:
    bias = -r1 * distance**r2
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
