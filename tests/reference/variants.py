# SPDX-License-Identifier: MIT
"""Writes cases of tests/cases with what the usual ones leave at its default: odd widths and bucket counts, every
scaling at the edge where it changes, masks that hide whole rows, ids that are unsorted or negative, more queries than
keys. From the published formulas, in double precision with PyTorch and no line of PosLab.

    pip install torch safetensors numpy
    python tests/reference/variants.py             # every case below
    python tests/reference/variants.py attention   # those whose name contains a word
"""

import math
import sys

import torch
from schemes import in_double, normal, write

SOURCE = "tests/reference/variants.py"

# --------------------------------------------------------------------------------------- frequencies and rotations


def powers(base, width):
    return base ** (-2 * torch.arange(width // 2).double() / width)


def yarn(f, base, width, scaling, longest):
    trained = scaling["originalMaxPositionEmbeddings"]
    factor = scaling.get("factor") or longest / trained
    end = lambda turns: width * math.log(trained / (2 * math.pi * turns)) / (2 * math.log(base))
    low, high = end(scaling.get("betaFast", 32)), end(scaling.get("betaSlow", 1))
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    high += 0.001 if low == high else 0
    ramp = ((torch.arange(width // 2).double() - low) / (high - low)).clamp(0, 1)
    size = lambda scale: 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0
    both = scaling.get("mscale") and scaling.get("mscaleAllDim")
    own = size(scaling["mscale"]) / size(scaling["mscaleAllDim"]) if both else size(1)
    return f * (1 - ramp) + f / factor * ramp, scaling.get("attentionFactor", own)


def llama3(f, scaling):
    low, high = scaling["lowFreqFactor"], scaling["highFreqFactor"]
    turns = scaling["originalMaxPositionEmbeddings"] * f / (2 * math.pi)
    blend = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - blend) * f / scaling["factor"] + blend * f


def rope_frequencies(position, head, length):
    """The frequencies [pairs] and the size of cos and sin (transformers, modeling_rope_utils.py)."""
    base, width, scaling = position.get("theta", 10000), position.get("rotaryDim", head), position.get("scaling", {})
    kind, factor, longest = scaling.get("ropeType"), scaling.get("factor"), position.get("maxPositionEmbeddings")
    f = powers(base, width)
    if kind == "dynamic":
        stretch = factor * max(length, longest) / longest - (factor - 1)
        return powers(base * stretch ** (width / (width - 2)), width), 1.0
    if kind == "yarn":
        return yarn(f, base, width, scaling, longest)
    if kind == "longrope":
        trained = scaling["originalMaxPositionEmbeddings"]
        divisors = scaling["longFactor" if length > trained else "shortFactor"]
        return f / torch.tensor(divisors).double(), math.sqrt(1 + math.log(factor) / math.log(trained))
    if kind == "llama3":
        return llama3(f, scaling), 1.0
    if kind == "proportional":
        turned = int(scaling["partialRotaryFactor"] * head // 2)
        return torch.where(torch.arange(head // 2) < turned, powers(base, head), 0) / scaling.get("factor", 1), 1.0
    return f, 1.0


def rotated(x, places, f, size, layout):
    width, angles = 2 * len(f), places.double()[:, None] * f
    lanes = x[..., :width]
    a, b = (lanes[..., 0::2], lanes[..., 1::2]) if layout == "interleaved" else lanes.chunk(2, -1)
    cos, sin = angles.cos() * size, angles.sin() * size
    turned = [a * cos - b * sin, b * cos + a * sin]
    lanes = torch.stack(turned, -1).flatten(-2) if layout == "interleaved" else torch.cat(turned, -1)
    return torch.cat([lanes, x[..., width:]], -1)


# ------------------------------------------------------------------------------------------------------- biases


def slopes(heads):
    power = 2 ** int(math.log2(heads))
    own = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return own if heads == power else own + slopes(2 * power)[0::2][: heads - power]


def bucket(distance, buckets=32, longest=128, both_sides=False):
    """T5's bucket of key - query with its edges as whole numbers: d >= e (m/e)^(n/k) when d^k e^n >= e^k m^n."""
    start = 0
    if both_sides:
        buckets //= 2
        start, distance = (buckets if distance > 0 else 0), abs(distance)
    distance = distance if both_sides else max(0, -distance)
    exact = buckets // 2
    if distance < exact:
        return start + distance
    logs, n = buckets - exact, 0
    while n < logs - 1 and distance**logs * exact ** (n + 1) >= exact**logs * longest ** (n + 1):
        n += 1
    return start + exact + n


def bias(position, heads, distance, t):
    if position["type"] == "alibi":
        return -torch.tensor(slopes(heads)).double()[:, None, None] * distance.abs()
    if position["type"] == "t5":
        rule = position.get("buckets", 32), position.get("maxDistance", 128), position.get("bidirectional", False)
        rows = [bucket(d, *rule) for d in distance.flatten().tolist()]
        return t["table"][torch.tensor(rows, dtype=torch.long)].view(*distance.shape, heads).permute(2, 0, 1)
    if position["type"] == "kerple":
        return -t["r1"][:, None, None] * distance.abs().double() ** t["r2"][:, None, None]  # kind power
    return 0.0


# ---------------------------------------------------------------------------------------------------- attention


def visible(mask, queries, keys, key_mask):
    i = torch.arange(queries)[:, None] + (0 if mask.get("alignment") == "top-left" else keys - queries)
    j = torch.arange(keys)
    seen = (j <= i) if mask.get("causal") else torch.ones(queries, keys, dtype=torch.bool)
    if "window" in mask:
        seen = seen & (j > i - mask["window"])
    return seen if key_mask is None else seen & (key_mask != 0)


def xpos_scaled(x, places, sign, layout):
    lanes = ((2 * torch.arange(x.shape[-1] // 2).double() / x.shape[-1] + 0.4) / 1.4) ** (
        sign * places.double()[:, None] / 512
    )
    return x * (torch.cat([lanes, lanes], -1) if layout == "half" else lanes.repeat_interleave(2, -1))


def attend(position, inputs, t, mask):
    q, k, v = inputs["query"], inputs["key"], inputs["value"]
    (heads, queries, width), keys = q.shape, k.shape[1]
    start = 0 if mask.get("alignment") == "top-left" else keys - queries
    i = inputs.get("queryPositions", torch.arange(queries) + start)
    j = inputs.get("keyPositions", torch.arange(keys))
    seen = visible(mask, queries, keys, inputs.get("keyMask"))
    if "keyMask" in inputs:  # what is hidden may hold anything
        k, v = (torch.where(inputs["keyMask"][:, None] != 0, x, 0) for x in (k, v))
    k, v = (x.repeat_interleave(heads // x.shape[0], 0) for x in (k, v))
    distance, kind, layout = j[None, :] - i[:, None], position["type"], position.get("layout", "half")
    if kind == "rope":
        turn = rope_frequencies(position, width, max([-1, *i.tolist(), *j.tolist()]) + 1)
        q, k = rotated(q, i, *turn, layout), rotated(k, j, *turn, layout)
    if kind == "xpos":
        plain = powers(10000, width), 1.0
        q = xpos_scaled(rotated(q, i, *plain, layout), i, 1, layout)
        k = xpos_scaled(rotated(k, j, *plain, layout), j, -1, layout)
    content = q
    if kind == "transformer-xl":
        content = q + t["contentBias"][:, None]
    scores = content @ k.transpose(1, 2)
    if kind == "transformer-xl":
        reach = position["clampLength"]
        angles = (-distance).clamp(-reach, reach)[..., None] * powers(10000, t["projection"].shape[1])
        waves = torch.cat([angles.sin(), angles.cos()], -1) @ t["projection"].T
        scores = scores + torch.einsum(
            "hid,ijhd->hij", q + t["positionBias"][:, None], waves.view(queries, keys, heads, width)
        )
    rows = None
    if kind == "shaw":
        reach = position["maxDistance"]
        rows = distance.clamp(-reach, reach) + reach
        scores = scores + torch.einsum("hid,hijd->hij", q, t["keys"][:, rows])
    scores = scores / math.sqrt(width) + bias(position, heads, distance, t)
    some = seen.any(-1)[None, :, None]
    weights = torch.where(some, scores.masked_fill(~seen, -math.inf), 0).softmax(-1)
    weights = torch.where(some & seen, weights, 0)
    output = weights @ v
    if rows is not None:
        output = output + torch.einsum("hij,hijd->hid", weights, t["values"][:, rows])
    return output, weights


def write_attention(name, position, tensors, sizes, mask, extras, rng):
    heads, key_heads, queries, keys, width, value_width = sizes
    inputs = {
        "query": normal(rng, heads, queries, width),
        "key": normal(rng, key_heads, keys, width),
        "value": normal(rng, key_heads, keys, value_width),
    }
    others = {key: torch.tensor(value) for key, value in extras.items()}
    if "keyMask" in others:
        for side in ("key", "value"):
            inputs[side][:, others["keyMask"] == 0] = math.nan
    gradient = normal(rng, heads, queries, value_width)
    leaves, learned = in_double(inputs), in_double(tensors)
    output, weights = attend(position, {**leaves, **others}, learned, mask)
    (output * gradient.double()).sum().backward()
    stored = {f"input.{key}": value for key, value in {**inputs, **others}.items()}
    stored |= {f"position.{key}": value for key, value in tensors.items()}
    write(f"attention-{name}", "attention", position,
          {**stored, "expected.output": output, "expected.weights": weights},
          mask=mask, source=SOURCE, tolerance={"absolute": 2e-5, "relative": 2e-5})
    wanted = {f"expected.gradient.{key}": value.grad for key, value in leaves.items()}
    wanted |= {f"expected.gradient.position.{key}": value.grad for key, value in learned.items()}
    write(f"gradients-{name}", "attention-gradients", position,
          {**stored, "input.outputGradient": gradient, **wanted},
          mask=mask, source=SOURCE, tolerance={"absolute": 1e-4, "relative": 1e-4})


# heads, key heads, queries, keys, width, value width; mask; ids and key mask
ATTENTION = {
    "shaw-no-distance": (
        {"type": "shaw", "maxDistance": 0},
        lambda rng: {"keys": normal(rng, 4, 1, 5), "values": normal(rng, 4, 1, 3)},
        ((4, 2, 4, 7, 5, 3), {"causal": True, "alignment": "top-left"}, {}),
    ),
    "shaw-values-per-head": (
        {"type": "shaw", "maxDistance": 2},
        lambda rng: {"keys": normal(rng, 3, 5, 6), "values": normal(rng, 3, 5, 3)},
        ((3, 1, 7, 5, 6, 3), {}, {"keyPositions": [9, -4, 2, 2, 3]}),
    ),
    "transformer-xl-both-sides": (
        {"type": "transformer-xl", "clampLength": 3},
        lambda rng: {
            "projection": normal(rng, 15, 6, scale=0.4),
            "contentBias": normal(rng, 3, 5),
            "positionBias": normal(rng, 3, 5),
        },
        ((3, 1, 7, 5, 5, 4), {}, {}),
    ),
    "kerple-power-any-ids": (
        {"type": "kerple", "kind": "power"},
        lambda rng: {"r1": torch.rand(2, generator=rng) + 0.1, "r2": torch.rand(2, generator=rng) + 0.5},
        ((2, 2, 4, 5, 4, 4), {}, {"queryPositions": [7, -3, 0, 7], "keyPositions": [5, 5, -20, 1, 12]}),
    ),
    "t5-odd-buckets-window": (
        {"type": "t5", "buckets": 7, "maxDistance": 20, "bidirectional": True},
        lambda rng: {"table": normal(rng, 7, 3)},
        ((3, 3, 6, 6, 4, 4), {"causal": True, "window": 2}, {"queryPositions": [40, 3, 3, 90, 0, 8]}),
    ),
    "xpos-half-more-queries": (
        {"type": "xpos", "layout": "half"},
        lambda rng: {},
        ((2, 1, 6, 3, 6, 2), {"causal": True}, {}),
    ),
    "alibi-3-heads-hidden-rows": (
        {"type": "alibi"},
        lambda rng: {},
        ((3, 1, 5, 6, 4, 4), {"causal": True, "window": 2}, {"keyMask": [1, 0, 0, 0, 1, 1]}),
    ),
    "alibi-no-keys": ({"type": "alibi"}, lambda rng: {}, ((2, 2, 3, 0, 4, 4), {"causal": True}, {})),
    "rope-dynamic-unsorted": (
        {"type": "rope", "maxPositionEmbeddings": 8, "scaling": {"ropeType": "dynamic", "factor": 3}},
        lambda rng: {},
        ((2, 2, 3, 4, 6, 6), {}, {"queryPositions": [8, 2, 19], "keyPositions": [30, 0, 7, 7]}),
    ),
    "rope-odd-head-interleaved": (
        {"type": "rope", "theta": 100, "layout": "interleaved", "rotaryDim": 4},
        lambda rng: {},
        ((4, 2, 3, 5, 7, 2), {"causal": True}, {}),
    ),
}
for length in (8, 9):
    ATTENTION[f"rope-longrope-at-{length}"] = (
        {"type": "rope", "scaling": {"ropeType": "longrope", "factor": 4, "originalMaxPositionEmbeddings": 8,
                                     "shortFactor": [1, 1.25, 1.5], "longFactor": [2, 7, 30]}},
        lambda rng: {},
        ((2, 2, 2, length, 6, 6), {"causal": True}, {}),
    )

llama3_scaling = {"ropeType": "llama3", "factor": 4, "lowFreqFactor": 1, "highFreqFactor": 1.5,
                  "originalMaxPositionEmbeddings": 64}
# position, width of the head, running length
FREQUENCIES = {
    "yarn-ratio": ({"type": "rope", "rotaryDim": 22, "maxPositionEmbeddings": 257,
                    "scaling": {"ropeType": "yarn", "originalMaxPositionEmbeddings": 64}}, 32, 1),
    "yarn-betas": ({"type": "rope", "theta": 1000, "scaling": {
        "ropeType": "yarn", "factor": 8, "originalMaxPositionEmbeddings": 4096, "betaFast": 16, "betaSlow": 2,
        "mscale": 1, "mscaleAllDim": 0.8, "truncate": False}}, 48, 1),
    "yarn-no-size": ({"type": "rope", "scaling": {
        "ropeType": "yarn", "factor": 8, "originalMaxPositionEmbeddings": 64, "attentionFactor": 0}}, 16, 1),
    "yarn-empty-range": ({"type": "rope", "scaling": {
        "ropeType": "yarn", "factor": 2, "originalMaxPositionEmbeddings": 6}}, 16, 1),
    "dynamic-at-its-length": ({"type": "rope", "rotaryDim": 10, "maxPositionEmbeddings": 2048,
                               "scaling": {"ropeType": "dynamic", "factor": 2.5}}, 32, 2048),
    "llama3-narrow": ({"type": "rope", "theta": 2000, "scaling": llama3_scaling}, 22, 1),
    "proportional-factor": ({"type": "rope", "scaling": {
        "ropeType": "proportional", "partialRotaryFactor": 0.3, "factor": 4}}, 22, 1),
}
BUCKETS = {"7-20-bi": (7, 20, True), "9-50-causal": (9, 50, False), "320-800-bi": (320, 800, True)}


# -------------------------------------------------------------------------------------------------------- files


def write_frequencies(name, position, head, length):
    f, size = rope_frequencies(position, head, length)
    write(f"frequencies-{name}", "frequencies", position,
          {"expected.inverseFrequencies": f, "expected.attentionFactor": torch.tensor([size]).double()},
          headDim=head, length=length, source=SOURCE, tolerance={"absolute": 1e-12, "relative": 1e-6})


def write_buckets(name, count, longest, both_sides):
    distances = torch.tensor([*range(-60, 61), *(s * d for s in (-1, 1) for d in (longest - 1, longest, 2**40))])
    wanted = torch.tensor([bucket(d, count, longest, both_sides) for d in distances.tolist()])
    write(f"buckets-{name}", "buckets",
          {"type": "t5", "buckets": count, "maxDistance": longest, "bidirectional": both_sides},
          {"input.distances": distances, "expected.buckets": wanted}, source=SOURCE,
          tolerance={"absolute": 0, "relative": 0})


def write_slopes(heads):
    write(f"slopes-{heads}", "slopes", {"type": "alibi"}, {"expected.slopes": torch.tensor(slopes(heads)).double()},
          heads=heads, source=SOURCE, tolerance={"absolute": 2e-6, "relative": 2e-6})


def main(words):
    makers = {f"frequencies-{name}": lambda _, case=(name, *rest): write_frequencies(*case)
              for name, rest in FREQUENCIES.items()}
    makers |= {f"buckets-{name}": lambda _, case=(name, *rest): write_buckets(*case) for name, rest in BUCKETS.items()}
    makers |= {f"slopes-{heads}": lambda _, heads=heads: write_slopes(heads) for heads in (7, 14, 71)}
    for name, (position, make, call) in ATTENTION.items():
        makers[f"attention-{name}"] = lambda rng, name=name, position=position, make=make, call=call: write_attention(
            name, position, make(rng), *call, rng)
    for number, (name, make) in enumerate(makers.items()):
        if not words or any(word in name for word in words):
            make(torch.Generator().manual_seed(5000 + number))


if __name__ == "__main__":
    main(sys.argv[1:])
