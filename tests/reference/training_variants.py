# SPDX-License-Identifier: MIT
"""Writes training cases of tests/cases with models of other shapes than the usual one: followed step by step with
automatic differentiation and AdamW as the experiment has them, in double precision and without a line of PosLab.

    pip install torch safetensors numpy
    python tests/reference/training_variants.py
"""

import math

import torch
from experiment_weights import Model
from schemes import in_double, normal, write

# model, position, training beside the usual; weights of norms are near 1 and 0
TRAINING = {
    "gated-kerple": (
        {"norm": "rms", "gated": True, "tied": True, "keyValueHeads": 1, "activation": "silu"},
        {"type": "kerple", "kind": "power"}, {},
    ),
    "post-norm-xpos": (
        {"normPlacement": "post", "bias": True, "activation": "relu"}, {"type": "xpos", "layout": "interleaved"},
        {"warmup": 0, "clip": 0.1},
    ),
    "parallel-rope": (
        {"parallel": True, "bias": False}, {"type": "rope", "theta": 100, "layout": "interleaved", "rotaryDim": 4},
        {"warmup": 9, "weightDecay": 0.5},
    ),
}


def weights_of(model, position, rng):
    """Every tensor of a model of this shape, and which of them decay."""
    d, heads, inner = model["dim"], model["heads"], model["feedForward"]
    key_width, t, decayed = d // heads * model["keyValueHeads"], {}, set()
    biased = model.get("bias") is not False

    def matrix(name, outputs, inputs, bias):
        t[f"{name}.weight"] = normal(rng, outputs, inputs, scale=inputs**-0.5)
        decayed.add(f"{name}.weight")
        if bias:
            t[f"{name}.bias"] = normal(rng, outputs, scale=0.1)

    def norm(name):
        t[f"{name}.gain"] = 1 + normal(rng, d, scale=0.1)
        if biased and model["norm"] == "layer":
            t[f"{name}.bias"] = normal(rng, d, scale=0.1)

    t["embedding.weight"] = normal(rng, model["vocabulary"], d, scale=d**-0.5)
    for block in (f"blocks.{layer}" for layer in range(model["layers"])):
        for name in ("norm1",) if model["parallel"] else ("norm1", "norm2"):
            norm(f"{block}.{name}")
        for name, outputs in (("query", d), ("key", key_width), ("value", key_width), ("output", d)):
            matrix(f"{block}.attention.{name}", outputs, d, model.get("bias") is True)
        if position["type"] == "kerple":
            t |= {f"{block}.position.r{n}": torch.rand(heads, generator=rng) + 0.1 for n in (1, 2)}
        for name in ("gate", "in") if model["gated"] else ("in",):
            matrix(f"{block}.feedForward.{name}", inner, d, biased)
        matrix(f"{block}.feedForward.out", d, inner, biased)
    if model["normPlacement"] == "pre":
        norm("norm")
    if not model["tied"]:
        matrix("head", model["vocabulary"], d, False)
    return t, decayed


def write_training(name, shape, position, changes, rng):
    defaults = {"norm": "layer", "normPlacement": "pre", "activation": "gelu", "gated": False, "tied": False,
                "parallel": False, "keyValueHeads": 2}
    model = {**defaults, **shape, "dim": 16, "heads": 2, "layers": 1, "feedForward": 12, "vocabulary": 7}
    training = {"length": 6, "batch": 2, "steps": 5, "warmup": 2, "learningRate": 0.01, "weightDecay": 0.1, "clip": 1,
                "beta1": 0.9, "beta2": 0.98, **changes}
    start, decayed = weights_of(model, position, rng)
    follower = Model.__new__(Model)
    follower.shape, follower.position, follower.t = model, position, in_double(start)
    batches, test = (torch.randint(0, 7, size, generator=rng) for size in ((5, 2, 7), (1, 14)))
    loss = lambda row: torch.nn.functional.cross_entropy(follower.logits(row[:-1]), row[1:], reduction="none")
    moments = {key: (torch.zeros_like(w), torch.zeros_like(w)) for key, w in follower.t.items()}
    losses, norms, first = [], [], {}
    for step, rows in enumerate(batches):
        mean = torch.stack([loss(row) for row in rows]).mean()
        gradients = dict(zip(follower.t, torch.autograd.grad(mean, list(follower.t.values())), strict=True))
        first = first or gradients
        length = math.sqrt(sum((g * g).sum().item() for g in gradients.values()))
        losses.append(mean.item())
        norms.append(length)
        warmup, rest = training["warmup"], max(1, training["steps"] - training["warmup"])
        share = (step + 1) / warmup if step < warmup else 0.1 + 0.45 * (1 + math.cos(math.pi * (step - warmup) / rest))
        for key, w in follower.t.items():
            m, v = moments[key]
            g = gradients[key] * min(1, training["clip"] / length)
            m.mul_(training["beta1"]).add_((1 - training["beta1"]) * g)
            v.mul_(training["beta2"]).add_((1 - training["beta2"]) * g * g)
            change = m / (1 - training["beta1"] ** (step + 1))
            change = change / ((v / (1 - training["beta2"] ** (step + 1))).sqrt() + 1e-8)
            with torch.no_grad():
                decay = training["weightDecay"] * w if key in decayed else 0
                w -= training["learningRate"] * share * (change + decay)
                if key.endswith((".r1", ".r2")):
                    w.clamp_(min=0.01)
    scored = torch.stack([loss(row) for row in test])
    stored = {f"weights.{key}": value for key, value in start.items()} | {"input.batches": batches, "input.test": test}
    stored |= {f"expected.gradient.{key}": value for key, value in first.items()}
    stored |= {"expected.losses": torch.tensor(losses).double(), "expected.gradientNorms": torch.tensor(norms).double()}
    write(f"training-{name}", "training", position, {**stored, "expected.testLosses": scored}, model=model,
          training=training, source="tests/reference/training_variants.py",
          tolerance={"absolute": 2e-4, "relative": 2e-4})


def main():
    for number, (name, case) in enumerate(TRAINING.items()):
        write_training(name, *case, torch.Generator().manual_seed(6000 + number))


if __name__ == "__main__":
    main()
