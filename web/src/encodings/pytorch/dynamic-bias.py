import torch

width = 32
depth = 2
distance = "linear"
heads, keys = 2, 6


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


x = keys - 1 - torch.arange(keys, dtype=torch.float64)[:, None]
if distance == "log":
    x = x.sign() * torch.log(1 + x.abs())
sizes = [1] + [width] * depth + [heads]
for n, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
    if n > 0:
        x = torch.nn.functional.silu(x)
    x = x @ ramp(outputs, inputs).double().T + ramp(outputs)
bias = x.T
print(" ".join(f"{value:.6f}" for value in bias.flatten().tolist()))
