import torch

width = 32
threshold = 512.0
heads, keys = 2, 6


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


c = 1 + ramp(1)
lengthFactor = 1 + ramp(1)
weight1, bias1 = ramp(width, 1), ramp(width)
weight2, bias2 = ramp(heads, width), ramp(heads)
query = keys - 1
distance = query - torch.arange(keys)
reach = (lengthFactor * threshold).abs().clamp(min=query)
share = torch.log(c.abs() * distance + 1) / (torch.log(c.abs() * reach + 1) + 1e-6)
hidden = torch.relu(share[:, None] @ weight1.T + bias1)
bias = (hidden @ weight2.T + bias2).T
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
