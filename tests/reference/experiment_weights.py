# SPDX-License-Identifier: MIT
"""Runs weights that `poslab extrapolate --save` wrote in PyTorch, in double, and compares the logits with those of the
package (experiment_logits.mjs beside this file), past the trained length as well.

    pip install torch numpy safetensors
    npm run build && python3 tests/reference/experiment_weights.py     prints a line a file; status 1 when one differs
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import schemes
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from schemes import Call, cope, dape, deberta, dynamic_bias, forgetting, perceptron, pope, sandwich, tisa, turn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOLERANCE = 2e-5
LENGTH, BATCH, STEPS = 16, 4, 20
DIM, HEADS = 32, 4
schemes.WIDTH = DIM // HEADS

# ------------------------------------------------------------------- schemes: tokens -> added rows, or logits of a head


def sinusoid(length, dim, position):
    k = torch.arange(dim // 2).double()
    angles = torch.arange(length).double()[:, None] * position.get("base", 10000) ** (-2 * k / dim)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def rotated(x, positions, position):
    width = position.get("rotaryDim", x.shape[-1])
    frequencies = position.get("theta", 10000) ** (-torch.arange(0, width, 2).double() / width)
    frequencies = frequencies / position.get("scaling", {}).get("factor", 1)  # the linear one
    lanes = x[..., :width]
    if position.get("layout") == "interleaved":
        lanes = torch.cat([lanes[..., 0::2], lanes[..., 1::2]], -1)
    return torch.cat([turn(lanes, positions, frequencies), x[..., width:]], -1)


def rope(call, position):
    q, k = rotated(call.q, call.i, position), rotated(call.k, call.j, position)
    return q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])


def alibi(call, position):
    slopes = torch.tensor([2 ** (-8 * (h + 1) / call.heads) for h in range(call.heads)]).double()  # a power of two
    return call.content - slopes[:, None, None] * call.distance.abs()


def kerple(call, position):
    r1, r2, distance = call.t["r1"][:, None, None], call.t["r2"][:, None, None], call.distance.abs()
    return call.content - (r1 * torch.log(1 + r2 * distance) if position.get("kind", "log") == "log" else r1 * distance**r2)


def t5(call, position):
    count, longest = call.t["table"].shape[0], position.get("maxDistance", 128)
    distance, exact = (-call.distance).clamp(min=0), count // 2
    far = exact + (distance.clamp(min=1) / exact).log() / math.log(longest / exact) * (count - exact)
    bucket = torch.where(distance < exact, distance, far.long().clamp(max=count - 1))
    return call.content + call.t["table"][bucket].permute(2, 0, 1)


def shaw_row(call, table):
    reach = (table.shape[0] - 1) // 2
    return table[call.distance.clamp(-reach, reach) + reach]  # [Lq, Lk, D]


def shaw(call, position):
    return call.content + torch.einsum("hqd,qkd->hqk", call.q, shaw_row(call, call.t["keys"])) / math.sqrt(
        call.q.shape[-1]
    )


def transformer_xl(call, position):
    dim, width = call.t["projection"].shape[1], call.q.shape[-1]
    frequencies = 10000 ** (-2 * torch.arange(dim // 2).double() / dim)
    angles = (-call.distance).clamp(min=0)[..., None] * frequencies
    waves = torch.cat([angles.sin(), angles.cos()], -1)
    r = (waves @ call.t["projection"].T).view(*waves.shape[:2], call.heads, width)
    u, v = call.t["contentBias"][:, None], call.t["positionBias"][:, None]
    to_content = (call.q + u) @ call.k.transpose(1, 2)
    return (to_content + torch.einsum("hqd,qkhd->hqk", call.q + v, r)) / math.sqrt(width)


def xpos(call, position):
    width = call.q.shape[-1]
    pair = torch.arange(width // 2).double()
    q, k = (rotated(x, p, {"layout": "interleaved"}) for x, p in ((call.q, call.i), (call.k, call.j)))
    products = (q[:, :, None] * k[:, None]).view(call.heads, *call.distance.shape, 2, width // 2).sum(-2)
    decay = ((2 * pair / width + 0.4) / 1.4) ** ((-call.distance)[..., None] / position.get("scaleBase", 512))
    return (products * decay).sum(-1) / math.sqrt(width)


def relative_scalar(call, position):
    return call.content + shaw_row(call, call.t["table"]).permute(2, 0, 1)


def fire(call, position):
    t = call.t
    threshold = (t["lengthFactor"] * position.get("threshold", 512)).abs()
    reach = torch.log((t["c"] * torch.maximum(call.i.double(), threshold)).abs() + 1)
    x = torch.log((t["c"] * call.distance).abs() + 1) / (reach + 1e-6)[:, None]
    return call.content + perceptron(t, x[..., None], torch.relu).permute(2, 0, 1)


SCHEMES = {
    "none": lambda call, position: call.content,
    "sinusoidal": lambda call, position: call.content,
    "learned": lambda call, position: call.content,
    "shaw": shaw,
    "transformer-xl": transformer_xl,
    "t5": t5,
    "rope": rope,
    "alibi": alibi,
    "xpos": xpos,
    "kerple": kerple,
    "fire": fire,
    "sandwich": lambda call, position: sandwich(call),
    "tisa": lambda call, position: tisa(call),
    "cope": lambda call, position: cope(call),
    "dape": lambda call, position: dape(call),
    "dynamic-bias": lambda call, position: dynamic_bias(call),
    "relative-scalar": relative_scalar,
    "deberta": lambda call, position: deberta(position.get("buckets", 0), position.get("maxDistance", 128))(call),
    "forgetting": lambda call, position: forgetting(call),
    "pope": lambda call, position: pope(call),
}

# ------------------------------------------------------------------------------------------------- the model


class Model:
    """The experiment's small transformer, from its weight file."""

    def __init__(self, path):
        with safe_open(path, "pt") as file:
            saved = json.loads(file.metadata()["poslab.model"])
        self.shape, self.position = saved["model"], saved["encoding"]
        self.t = {name: tensor.double() for name, tensor in load_file(path).items()}

    def linear(self, name, x):
        bias = self.t.get(f"{name}.bias")
        return torch.nn.functional.linear(x, self.t[f"{name}.weight"], bias)

    def norm(self, name, x):
        if self.shape["norm"] == "layer":
            x = x - x.mean(-1, keepdim=True)
        x = x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5)
        return x * self.t[f"{name}.gain"] + self.t.get(f"{name}.bias", 0)

    def attention(self, name, x):
        length, heads, key_heads = x.shape[0], self.shape["heads"], self.shape["keyValueHeads"]
        width = self.t[f"{name}.attention.query.weight"].shape[0] // heads
        split = lambda part, count: self.linear(f"{name}.attention.{part}", x).view(length, count, width).transpose(0, 1)
        q = split("query", heads)
        k, v = (split(part, key_heads).repeat_interleave(heads // key_heads, 0) for part in ("key", "value"))
        places = torch.arange(length)
        own = {key.split(".")[-1]: value for key, value in self.t.items() if key.startswith(("position.", f"{name}.position."))}
        gates = None
        if "gateWeight" in own:
            gates = torch.nn.functional.logsigmoid(x @ own["gateWeight"].T + own["gateBias"]).T
        call = Call(q @ k.transpose(1, 2) / math.sqrt(width), q, k, places, places, own, gates)
        logits = SCHEMES[self.position["type"]](call, self.position)
        weights = logits.masked_fill(call.distance > 0, -math.inf).softmax(-1)
        rows = weights @ v
        if self.position["type"] == "shaw" and "values" in own:
            rows = rows + torch.einsum("hqk,qkd->hqd", weights, shaw_row(call, own["values"]))
        return self.linear(f"{name}.attention.output", rows.transpose(0, 1).reshape(length, heads * width))

    def feed_forward(self, name, x):
        act = {
            "gelu": lambda y: torch.nn.functional.gelu(y, approximate="tanh"),
            "relu": torch.relu,
            "silu": torch.nn.functional.silu,
        }[self.shape["activation"]]
        inner = self.linear(f"{name}.feedForward.in", x)
        inner = act(self.linear(f"{name}.feedForward.gate", x)) * inner if self.shape["gated"] else act(inner)
        return self.linear(f"{name}.feedForward.out", inner)

    def block(self, name, x):
        if self.shape["normPlacement"] == "post":
            if self.shape["parallel"]:
                return self.norm(f"{name}.norm1", x + self.attention(name, x) + self.feed_forward(name, x))
            x = self.norm(f"{name}.norm1", x + self.attention(name, x))
            return self.norm(f"{name}.norm2", x + self.feed_forward(name, x))
        normed = self.norm(f"{name}.norm1", x)
        if self.shape["parallel"]:
            return x + self.attention(name, normed) + self.feed_forward(name, normed)
        x = x + self.attention(name, normed)
        return x + self.feed_forward(name, self.norm(f"{name}.norm2", x))

    def logits(self, ids):
        x = self.t["embedding.weight"][ids]
        if self.position["type"] == "sinusoidal":
            x = x + sinusoid(*x.shape, self.position)
        if self.position["type"] == "learned":
            x = x + self.t["position.table"][: len(ids)]
        for layer in range(self.shape["layers"]):
            x = self.block(f"blocks.{layer}", x)
        if self.shape["normPlacement"] == "pre":
            x = self.norm("norm", x)
        return x @ self.t.get("head.weight", self.t["embedding.weight"]).T


# ---------------------------------------------------------------------------------------------- experiments

ENCODINGS = [
    *({"type": name} for name in SCHEMES),
    {"type": "rope", "layout": "interleaved", "rotaryDim": 4, "theta": 500, "label": "rope-partial"},
    {"type": "rope", "scaling": {"ropeType": "linear", "factor": 4}, "label": "rope-linear"},
    {"type": "kerple", "kind": "power", "label": "kerple-power"},
]
SHAPES = [
    [],
    ["model.gated=true", "model.norm=rms", "model.tied=true", "model.keyValueHeads=2", "model.activation=silu"],
    ["model.normPlacement=post", "model.bias=true", "model.activation=relu"],
    ["model.parallel=true", "model.bias=false"],
]


def train(folder, encodings, settings):
    words = ["--length", LENGTH, "--test", LENGTH, "--steps", STEPS, "--batch", BATCH, "--windows", 1, "--dim", DIM]
    words += ["--heads", HEADS, "--feed-forward", 48, "--quiet", "--workers", 1, "--save", folder]
    for setting in settings:
        words += ["--set", setting]
    command = ["node", ROOT / "dist/cli/main.js", "extrapolate", "--encodings", json.dumps(encodings), *words]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def main():
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, settings in enumerate(SHAPES):
            train(f"{folder}/{number}", ENCODINGS if number == 0 else ENCODINGS[: len(SCHEMES)], settings)
        files = sorted(Path(folder).glob("*/*.safetensors"))
        subprocess.run(["node", str(HERE / "experiment_logits.mjs"), *map(str, files)], check=True)
        for file in files:
            wanted = load_file(f"{file}.logits")
            difference = (Model(file).logits(wanted["ids"].long()) - wanted["logits"].double()).abs().max().item()
            good = difference <= TOLERANCE
            passed, failed = passed + good, failed + (not good)
            shape = " ".join(SHAPES[int(file.parent.name)]) or "default shape"
            print(f"{'pass' if good else 'FAIL'}  {file.name.split('-length')[0]}, {shape}: {difference:.1e}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
