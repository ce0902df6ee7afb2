# SPDX-License-Identifier: MIT
"""Writes the cases of far keys at other distances (Self-Extend, ReRoPE), in double precision with PyTorch and without a line
of PosLab: every pair of query and key is scored at its own distance.

    pip install torch safetensors numpy
    python tests/reference/distances.py
"""

import math

import torch
from schemes import HEADS, KEYS, QUERIES, WIDTH, attend, in_double, normal, write

POLICIES = {
    "self-extend": {"policy": "grouped", "window": 5, "group": 3},
    "rerope": {"policy": "clamped", "window": 5},
}


def seen(i, j, distances):
    """The distance [Lq, Lk] at which each key is seen."""
    plain, window = i[:, None] - j[None, :], distances["window"]
    if distances["policy"] == "clamped":
        far = torch.full_like(plain, window)
    else:
        group = distances["group"]
        far = i[:, None] // group + window - window // group - j[None, :] // group
    return torch.where(plain < window, plain, far)


def rope(call, distance):
    angles = distance[..., None] * 10000 ** (-torch.arange(0, WIDTH, 2).double() / WIDTH)
    a, b = call.q[:, :, None].chunk(2, -1)
    turned = torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)
    return torch.einsum("hijd,hjd->hij", turned, call.k) / math.sqrt(WIDTH)


def alibi(call, distance):
    slopes = 2.0 ** (-2 * torch.arange(1, HEADS + 1).double())
    return call.content - slopes[:, None, None] * distance


def table(call, distance):
    rows = call.t["table"][distance.clamp(-6, 6).neg() + 6]
    return call.content + rows.permute(2, 0, 1)


SCHEMES = {
    "rope": ({"type": "rope"}, rope, lambda rng: {}),
    "alibi": ({"type": "alibi"}, alibi, lambda rng: {}),
    "relative-scalar": ({"type": "relative-scalar", "maxDistance": 6}, table, lambda rng: {"table": normal(rng, 13, HEADS)}),
}


def write_case(name, position, distances, scheme, tensors, rng):
    inputs = {
        "query": normal(rng, HEADS, QUERIES, WIDTH),
        "key": normal(rng, HEADS // 2, KEYS, WIDTH),
        "value": normal(rng, HEADS // 2, KEYS, WIDTH),
        "sinks": normal(rng, HEADS),
    }
    gradient = normal(rng, HEADS, QUERIES, WIDTH)
    leaves, learned = in_double(inputs), in_double(tensors)
    output = attend(leaves, learned, lambda call: scheme(call, seen(call.i, call.j, distances)))
    (output * gradient.double()).sum().backward()
    stored = {f"input.{key}": value for key, value in inputs.items()}
    stored |= {f"position.{key}": value for key, value in tensors.items()}
    stored["input.outputGradient"] = gradient
    stored |= {f"expected.gradient.{key}": value.grad for key, value in leaves.items()}
    stored |= {f"expected.gradient.position.{key}": value.grad for key, value in learned.items()}
    write(f"gradients-{name}", "attention-gradients", position, stored, mask={"causal": True}, distances=distances,
          tolerance={"absolute": 1e-4, "relative": 1e-4})


if __name__ == "__main__":
    for policy, distances in POLICIES.items():
        for number, (name, (position, scheme, make)) in enumerate(SCHEMES.items()):
            rng = torch.Generator().manual_seed(100 + number)
            write_case(f"{policy}-{name}", position, distances, scheme, make(rng), rng)
