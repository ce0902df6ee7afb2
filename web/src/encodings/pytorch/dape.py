import torch

width = 32
heads, keys, dim = 2, 6, 8


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


q = ramp(heads, 1, dim)
k = ramp(heads, keys, dim)
content = (q * k).sum(-1) / dim**0.5
r1 = 1 + ramp(heads)[:, None]
r2 = 1 + ramp(heads)[:, None]
bias = -r1 * torch.log(1 + r2 * (keys - 1 - torch.arange(keys)))  # the base: KERPLE
weight1, bias1 = ramp(width, 2 * heads), ramp(width)
weight2, bias2 = ramp(heads, width), ramp(heads)
both = torch.cat((content, bias)).T
hidden = torch.nn.functional.leaky_relu(both @ weight1.T + bias1)
scores = content + bias + (hidden @ weight2.T + bias2).T
print(" ".join(f"{value:.6f}" for value in scores.flatten().tolist()))
