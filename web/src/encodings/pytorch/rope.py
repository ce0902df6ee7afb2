import torch

theta = 10000.0
layout = "half"
rotaryDim = 8
dim, position = 8, 3


def ramp(*shape):
    n = torch.arange(torch.Size(shape).numel())
    return (((n * 7) % 13 - 6) / 8).reshape(shape)


x = ramp(dim)
k = torch.arange(rotaryDim // 2, dtype=torch.float64)
angle = position * theta ** (-2 * k / rotaryDim)
cos, sin = angle.cos(), angle.sin()
turned = x.double().clone()
if layout == "half":
    a, b = x[: rotaryDim // 2], x[rotaryDim // 2 : rotaryDim]
    turned[:rotaryDim] = torch.cat((a * cos - b * sin, b * cos + a * sin))
else:
    a, b = x[0:rotaryDim:2], x[1:rotaryDim:2]
    turned[:rotaryDim] = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten()
print(" ".join(f"{value:.6f}" for value in turned.tolist()))
