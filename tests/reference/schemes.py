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

    def __init__(self, content, q, k, i, j, tensors, gates=None):
        self.gates = gates
        self.content, self.q, self.k, self.i, self.j, self.t = content, q, k, i, j, tensors
        self.distance = j[None, :] - i[:, None]  # [Lq, Lk]
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


def cope(call):
    count = call.t["table"].shape[0]
    gates = torch.sigmoid(call.content) * (call.distance <= 0)
    place = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=count - 1)
    products = call.q @ call.t["table"].T
    below, above = place.floor().long(), place.ceil().long()
    share = place - below
    added = products.gather(-1, below) * (1 - share) + products.gather(-1, above) * share
    return call.content + added * (call.distance <= 0)


def forgetting(call):
    # from the whole prefix sums, the other way round than a running sum
    sums = call.gates.cumsum(-1)
    return call.content + sums[:, call.i][:, :, None] - sums[:, call.j][:, None, :]


def turn(x, positions, frequencies):
    angles = positions.double()[:, None] * frequencies
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def rope(call, q, frequencies=None):
    if frequencies is None:
        frequencies = 10000 ** (-torch.arange(0, WIDTH, 2).double() / WIDTH)
    return turn(q, call.i, frequencies) @ turn(call.k, call.j, frequencies).transpose(1, 2) / math.sqrt(WIDTH)


def rope_learned(call):
    frequencies = 10000 ** (-torch.arange(0, WIDTH, 2).double() / WIDTH) * call.t["frequencyFactors"]
    return rope(call, call.q, frequencies)


def rope_log_n(call):
    return rope(call, call.q * torch.clamp(torch.log(call.i + 1.0) / math.log(14), min=1)[:, None])


def none_llama4(call):
    factor = 1 + 0.1 * torch.log(1 + torch.floor((call.i.double() + 1) / 5))
    return call.content * factor[:, None]


def none_ssmax(call):
    return call.content * torch.log(call.i.double() + 1)[:, None] * call.t["temperatures"][:, None, None]


def log_bucket(relative, buckets, longest):
    middle = buckets // 2
    away = torch.where(relative.abs() < middle, torch.tensor(middle - 1), relative.abs())
    beyond = torch.ceil(torch.log(away / middle) / math.log((longest - 1) / middle) * (middle - 1)) + middle
    return torch.where(away <= middle, relative, (beyond * torch.sign(relative)).long())


def deberta(buckets, longest):
    def scheme(call):
        relative = -call.distance
        if buckets:
            relative = log_bucket(relative, buckets, longest)
        span = buckets or longest
        row = (relative + span).clamp(0, 2 * span - 1)[None].expand(call.heads, -1, -1)
        heads = lambda name: (call.t["table"] @ call.t[name].T).view(2 * span, call.heads, WIDTH).transpose(0, 1)
        to_position = (call.q @ heads("keyProjection").transpose(1, 2)).gather(-1, row)
        to_content = (call.k @ heads("queryProjection").transpose(1, 2)).transpose(1, 2)  # [H, rows, Lk]
        to_content = to_content.gather(1, row)
        return (call.q @ call.k.transpose(1, 2) + to_position + to_content) / math.sqrt(3 * WIDTH)

    return scheme


def deberta_tensors(span):
    return lambda rng: {
        "table": normal(rng, 2 * span, 12),
        "keyProjection": normal(rng, HEADS * WIDTH, 12, scale=0.3),
        "queryProjection": normal(rng, HEADS * WIDTH, 12, scale=0.3),
    }


def dape_tensors(rng):
    return {
        "r1": normal(rng, HEADS).abs() + 0.1,
        "r2": normal(rng, HEADS).abs() + 0.1,
        "weight1": normal(rng, 8, 2 * HEADS, scale=0.4),
        "bias1": normal(rng, 8, scale=0.4),
        "weight2": normal(rng, HEADS, 8, scale=0.4),
        "bias2": normal(rng, HEADS),
    }


def dape(call):
    r1, r2 = (call.t[name][:, None, None] for name in ("r1", "r2"))
    bias = -r1 * torch.log(1 + r2 * call.distance.abs())
    both = torch.cat([call.content, bias]).permute(1, 2, 0)
    return call.content + bias + perceptron(call.t, both, torch.nn.functional.leaky_relu).permute(2, 0, 1)


def pope(call):
    lane = torch.arange(WIDTH).double()
    frequencies = 10000 ** (-lane / WIDTH)
    phases = call.t["phases"].clamp(-2 * math.pi, 0)
    lengths = torch.nn.functional.softplus(call.q)[:, :, None] * torch.nn.functional.softplus(call.k)[:, None]
    angles = call.distance[..., None] * frequencies + phases[:, None, None]
    return (lengths * torch.cos(angles)).sum(-1) / math.sqrt(WIDTH)


def plain(call):
    return call.content


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
    "cope": (
        {"type": "cope", "positions": 5},
        lambda rng: {"table": normal(rng, 5, WIDTH)},
        cope,
        "gradients",
    ),
    "forgetting": ({"type": "forgetting"}, nothing, forgetting, "gradients gates"),
    "rope-learned-frequencies": (
        {"type": "rope", "learnedFrequencies": True},
        lambda rng: {"frequencyFactors": 1 + normal(rng, WIDTH // 2, scale=0.2)},
        rope_learned,
        "gradients",
    ),
    "rope-log-n": (
        {"type": "rope", "temperature": {"kind": "log-n", "length": 14}},
        nothing,
        rope_log_n,
        "gradients",
    ),
    "none-llama4": (
        {"type": "none", "temperature": {"kind": "llama4", "length": 5}},
        nothing,
        none_llama4,
        "gradients",
    ),
    "none-ssmax": (
        {"type": "none", "temperature": {"kind": "ssmax"}},
        lambda rng: {"temperatures": normal(rng, HEADS)},
        none_ssmax,
        "gradients",
    ),
    "deberta": ({"type": "deberta", "maxDistance": 9}, deberta_tensors(9), deberta(0, 9), "gradients"),
    "deberta-buckets": (
        {"type": "deberta", "maxDistance": 17, "buckets": 6},
        deberta_tensors(6),
        deberta(6, 17),
        "gradients",
    ),
    "dape": ({"type": "dape", "width": 8}, dape_tensors, dape, "gradients"),
    "pope": (
        {"type": "pope"},
        lambda rng: {"phases": normal(rng, HEADS, WIDTH) - 1.5},
        pope,
        "gradients",
    ),
    "sinks": ({"type": "none"}, nothing, plain, "gradients sinks"),
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


def attend(inputs, tensors, scheme):
    """Causal attention, the last query seeing the last key; query heads share key heads in order. A sink is one more
    logit a head, whose weight is dropped."""
    q = inputs["query"]
    k, v = (inputs[side].repeat_interleave(HEADS // KEY_HEADS, 0) for side in ("key", "value"))
    i, j = torch.arange(KEYS - QUERIES, KEYS), torch.arange(KEYS)
    logits = scheme(Call(q @ k.transpose(1, 2) / math.sqrt(WIDTH), q, k, i, j, tensors, inputs.get("gates")))
    logits = logits.masked_fill(j[None, :] > i[:, None], -math.inf)
    if "sinks" in inputs:
        logits = torch.cat([inputs["sinks"][:, None, None].expand(-1, QUERIES, 1), logits], -1)
    return torch.softmax(logits, -1)[..., -KEYS:] @ v


def write_gradients(name, position, tensors, scheme, files, rng):
    inputs = {
        "query": normal(rng, HEADS, QUERIES, WIDTH),
        "key": normal(rng, KEY_HEADS, KEYS, WIDTH),
        "value": normal(rng, KEY_HEADS, KEYS, WIDTH),
    }
    if "gates" in files:
        inputs["gates"] = torch.nn.functional.logsigmoid(normal(rng, HEADS, KEYS) + 1)
    if "sinks" in files:
        inputs["sinks"] = normal(rng, HEADS)
    gradient = normal(rng, HEADS, QUERIES, WIDTH)
    leaves, learned = in_double(inputs), in_double(tensors)
    output = attend(leaves, learned, scheme)
    (output * gradient.double()).sum().backward()
    stored = {f"input.{key}": value for key, value in inputs.items()}
    stored |= {f"position.{key}": value for key, value in tensors.items()}
    stored["input.outputGradient"] = gradient
    stored |= {f"expected.gradient.{key}": value.grad for key, value in leaves.items()}
    stored |= {f"expected.gradient.position.{key}": value.grad for key, value in learned.items()}
    write(f"gradients-{name}", "attention-gradients", position, stored, mask={"causal": True},
          tolerance={"absolute": 1e-4, "relative": 1e-4})


def write_scaled_sinusoid():
    waves = torch.arange(3, 12).double()[:, None] * 10000 ** (-torch.arange(0, 8, 2).double() / 8)
    scale = torch.tensor([0.37])
    write("table-sinusoidal-scaled", "table", {"type": "sinusoidal", "layout": "concatenated", "scaled": True},
          {"position.scale": scale, "expected.table": scale.double() * torch.cat([waves.sin(), waves.cos()], -1)},
          length=9, dim=8, start=3, tolerance={"absolute": 1e-6, "relative": 1e-6})


def main(wanted):
    for number, (name, (position, make, scheme, files)) in enumerate(SCHEMES.items()):
        if wanted and name not in wanted:
            continue
        rng = torch.Generator().manual_seed(1000 + number)
        tensors = make(rng)
        if "bias" in files.split():
            write_bias(name, position, tensors, scheme)
        if "gradients" in files.split():
            write_gradients(name, position, tensors, scheme, files.split(), rng)
    if not wanted or "sinusoidal-scaled" in wanted:
        write_scaled_sinusoid()


if __name__ == "__main__":
    main(sys.argv[1:])
