# SPDX-License-Identifier: MIT
"""Writes conformance cases of tests/cases from the published formulas, in double precision with PyTorch's automatic
differentiation and without a line of PosLab.

    pip install torch safetensors numpy
    python tests/reference/schemes.py            # every scheme below
    python tests/reference/schemes.py fire tisa  # some of them

A scheme is a function from the content logits (scale * q k^T) to the changed ones; a file named bias-* holds what it adds
to zeros, a file named gradients-* a whole causal attention with grouped heads and its gradients.
"""

import json
import math
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

CASES = Path(__file__).parent.parent / "cases"
HEADS, KEY_HEADS, QUERIES, KEYS, WIDTH = 4, 2, 7, 19, 16


class Call:
    """What a scheme may look at: content logits [H, Lq, Lk], q and k [H, L, D], positions, its own tensors."""

    def __init__(self, content, q, k, i, j, tensors):
        self.content, self.q, self.k, self.i, self.j, self.t = content, q, k, i, j, tensors
        self.distance = j[None, :] - i[:, None]
        self.heads = content.shape[0]


def normal(rng, *shape, scale=1.0):
    return (scale * torch.randn(*shape, generator=rng)).float()


# ------------------------------------------------------------------------------------------------ schemes


def perceptron(t, x, activation):
    layers = max(int(name[6:]) for name in t if name.startswith("weight"))
    for n in range(1, layers + 1):
        x = x @ t[f"weight{n}"].T + t[f"bias{n}"]
        if n < layers:
            x = activation(x)
    return x


def fire_tensors(rng):
    return {
        "c": torch.tensor([0.2]),
        "lengthFactor": torch.tensor([0.83]),
        "weight1": normal(rng, 8, 1),
        "bias1": normal(rng, 8, scale=0.5),
        "weight2": normal(rng, HEADS, 8),
        "bias2": normal(rng, HEADS),
    }


def fire(call):
    t = call.t
    reach = torch.maximum(call.i.double(), (t["lengthFactor"] * 15).abs())
    x = torch.log((t["c"] * call.distance).abs() + 1) / (torch.log((t["c"] * reach).abs() + 1) + 1e-6)[:, None]
    return call.content + perceptron(t, x[..., None], torch.relu).permute(2, 0, 1)


def sandwich(call):
    k = torch.arange(64, dtype=torch.float64)
    waves = torch.cos(call.distance[..., None] * 10000 ** (-2 * k / 128)).sum(-1)
    ratio = torch.arange(1, call.heads + 1) * 8 / call.heads
    return call.content + waves / ratio[:, None, None]


def tisa_tensors(rng):
    return {
        "amplitudes": normal(rng, HEADS, 5),
        "sharpnesses": normal(rng, HEADS, 5, scale=0.2),
        "offsets": normal(rng, HEADS, 5, scale=4),
    }


def tisa(call):
    a, w, c = (call.t[name][:, None, None, :] for name in ("amplitudes", "sharpnesses", "offsets"))
    return call.content + (a * torch.exp(-w.abs() * (call.distance[..., None] - c) ** 2)).sum(-1)


def relative_scalar(call):
    return call.content + call.t["table"][call.distance.clamp(-6, 6) + 6].permute(2, 0, 1)


def dynamic_bias_tensors(rng):
    return {
        "weight1": normal(rng, 8, 1, scale=0.3),
        "bias1": normal(rng, 8),
        "weight2": normal(rng, 8, 8, scale=0.4),
        "bias2": normal(rng, 8),
        "weight3": normal(rng, HEADS, 8),
        "bias3": normal(rng, HEADS),
    }


def dynamic_bias(call):
    x = -call.distance.double()[..., None]
    return call.content + perceptron(call.t, x, torch.nn.functional.silu).permute(2, 0, 1)


def dynamic_bias_log(call):
    x = -call.distance.double()[..., None]
    x = torch.sign(x) * torch.log(x.abs() + 1)
    return call.content + perceptron(call.t, x, torch.nn.functional.silu).permute(2, 0, 1)


def alibi_sides(call):
    past = torch.tensor([0.5, 0.25, 0.125, 0.0625])[:, None, None]
    future = torch.tensor([1.0, 0.75, -0.25, 0.0])[:, None, None]
    d = call.distance.double()
    return call.content + torch.where(d > 0, -future * d, past * d)


def alibi_some_heads(call):
    slopes = torch.tensor([2.0**-4, 2.0**-8, 0, 0])[:, None, None]
    return call.content - slopes * call.distance.abs()


def nothing(rng):
    return {}


# name of the files: (scheme object, its tensors, its function, which files)
SCHEMES = {
    "fire": ({"type": "fire", "width": 8, "threshold": 15}, fire_tensors, fire, "gradients"),
    "sandwich": ({"type": "sandwich"}, nothing, sandwich, "bias gradients"),
    "tisa": ({"type": "tisa"}, tisa_tensors, tisa, "bias gradients"),
    "relative-scalar": (
        {"type": "relative-scalar", "maxDistance": 6},
        lambda rng: {"table": normal(rng, 13, HEADS)},
        relative_scalar,
        "bias gradients",
    ),
    "dynamic-bias": (
        {"type": "dynamic-bias", "width": 8},
        dynamic_bias_tensors,
        dynamic_bias,
        "bias gradients",
    ),
    "dynamic-bias-log": (
        {"type": "dynamic-bias", "width": 8, "distance": "log"},
        dynamic_bias_tensors,
        dynamic_bias_log,
        "bias",
    ),
    "alibi-two-sides": (
        {"type": "alibi", "slopes": [0.5, 0.25, 0.125, 0.0625], "futureSlopes": [1, 0.75, -0.25, 0]},
        nothing,
        alibi_sides,
        "bias",
    ),
    "alibi-some-heads": ({"type": "alibi", "biasedHeads": 2}, nothing, alibi_some_heads, "bias gradients"),
}

# ------------------------------------------------------------------------------------------------ files


def write(name, op, position, tensors, **fields):
    case = {"name": name, "op": op, "source": "tests/reference/schemes.py", "position": position, **fields}
    save_file({key: value.detach().contiguous() for key, value in tensors.items()}, CASES / f"{name}.safetensors",
              metadata={"case": json.dumps(case)})


def in_double(tensors):
    return {name: tensor.double().requires_grad_() for name, tensor in tensors.items()}


def write_bias(name, position, tensors, scheme):
    i = torch.arange(KEYS - QUERIES, KEYS)
    call = Call(torch.zeros(HEADS, QUERIES, KEYS).double(), None, None, i, torch.arange(KEYS), in_double(tensors))
    write(f"bias-{name}", "bias", position,
          {**{f"position.{key}": value for key, value in tensors.items()}, "expected.bias": scheme(call)},
          heads=HEADS, queryLength=QUERIES, keyLength=KEYS, tolerance={"absolute": 1e-5, "relative": 1e-5})


def attend(position, inputs, tensors, scheme):
    """Causal attention, the last query seeing the last key; query heads share key heads in order."""
    q = inputs["query"]
    k, v = (inputs[side].repeat_interleave(HEADS // KEY_HEADS, 0) for side in ("key", "value"))
    i, j = torch.arange(KEYS - QUERIES, KEYS), torch.arange(KEYS)
    logits = scheme(Call(q @ k.transpose(1, 2) / math.sqrt(WIDTH), q, k, i, j, tensors))
    return torch.softmax(logits.masked_fill(j[None, :] > i[:, None], -math.inf), -1) @ v


def write_gradients(name, position, tensors, scheme, rng):
    inputs = {
        "query": normal(rng, HEADS, QUERIES, WIDTH),
        "key": normal(rng, KEY_HEADS, KEYS, WIDTH),
        "value": normal(rng, KEY_HEADS, KEYS, WIDTH),
    }
    gradient = normal(rng, HEADS, QUERIES, WIDTH)
    leaves, learned = in_double(inputs), in_double(tensors)
    output = attend(position, leaves, learned, scheme)
    (output * gradient.double()).sum().backward()
    stored = {f"input.{key}": value for key, value in inputs.items()}
    stored |= {f"position.{key}": value for key, value in tensors.items()}
    stored["input.outputGradient"] = gradient
    stored |= {f"expected.gradient.{key}": value.grad for key, value in leaves.items()}
    stored |= {f"expected.gradient.position.{key}": value.grad for key, value in learned.items()}
    write(f"gradients-{name}", "attention-gradients", position, stored, mask={"causal": True},
          tolerance={"absolute": 1e-4, "relative": 1e-4})


def main(wanted):
    for number, (name, (position, make, scheme, files)) in enumerate(SCHEMES.items()):
        if wanted and name not in wanted:
            continue
        rng = torch.Generator().manual_seed(1000 + number)
        tensors = make(rng)
        if "bias" in files.split():
            write_bias(name, position, tensors, scheme)
        if "gradients" in files.split():
            write_gradients(name, position, tensors, scheme, rng)


if __name__ == "__main__":
    main(sys.argv[1:])
