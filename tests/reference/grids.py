# SPDX-License-Identifier: MIT
"""Writes the cases of tests/cases for tokens on a grid or with several ids (2-D and M-RoPE, windows of Swin, LeViT and
Swin V2, 2-D embeddings, resized grids), in double precision with PyTorch and without a line of PosLab; first compares
each formula with the module of transformers or timm that uses it, where there is one.

    pip install torch torchvision safetensors numpy transformers timm
    python tests/reference/grids.py
"""

import math

import torch
from schemes import HEADS, KEY_HEADS, WIDTH, in_double, normal, write

HEIGHT, COLUMNS = 3, 5
TOKENS = HEIGHT * COLUMNS
Y, X = torch.arange(TOKENS) // COLUMNS, torch.arange(TOKENS) % COLUMNS
GRID = torch.stack([Y, X], -1)
SIZES = {"gridHeight": HEIGHT, "gridWidth": COLUMNS}
LOOSE = {"absolute": 1e-5, "relative": 1e-5}


def same(name, ours, theirs, tolerance=2e-6):
    difference = (ours.double() - theirs.double()).abs().max().item()
    print(f"{name}: within {difference:.1e}")
    assert difference <= tolerance, name


# ------------------------------------------------------------------------------------------------ rotations


def turn(x, angles, layout):
    """x [..., L, D] turned by angles [L, r / 2]; lanes from r on stay."""
    r = 2 * angles.shape[-1]
    cos, sin = angles.cos(), angles.sin()
    if layout == "half":
        a, b = x[..., : r // 2], x[..., r // 2 : r]
        turned = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
    else:
        a, b = x[..., 0:r:2], x[..., 1:r:2]
        turned = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
    return torch.cat([turned, x[..., r:]], -1)


def powers(theta, exponents):
    return theta ** -exponents.double()


def axial_angles(ids, r=WIDTH, theta=10000, order="blocks", frequencies="restart", firstAxis="y", **_):
    """Angles [L, r / 2] for ids [L, 2] = (y, x)."""
    first, second = (ids[:, :1], ids[:, 1:]) if firstAxis == "y" else (ids[:, 1:], ids[:, :1])
    m = torch.arange(r // 4)
    own = [powers(theta, 4 * m / r)] * 2 if frequencies == "restart" else [powers(theta, (4 * m + 2 * n) / r) for n in (0, 1)]
    sides = [first * own[0], second * own[1]]
    return torch.cat(sides, -1) if order == "blocks" else torch.stack(sides, -1).flatten(-2)


def normalized_angles(height, width, r=WIDTH, theta=100):
    y, x = ((2 * torch.arange(n).double() + 1) / n - 1 for n in (height, width))
    grid = torch.stack(torch.meshgrid(y, x, indexing="ij"), -1).reshape(-1, 2)
    return (2 * math.pi * grid[..., None] * powers(theta, 4 * torch.arange(r // 4) / r)).flatten(-2)


def section_angles(ids, sections, interleaved, r=WIDTH, theta=10000):
    """ids [L, 3]: time, row, column."""
    angles = ids.double()[..., None] * powers(theta, 2 * torch.arange(r // 2) / r)  # [L, 3, r / 2]
    if not interleaved:
        parts = angles.split(sections, -1)
        return torch.cat([part[:, axis] for axis, part in enumerate(parts)], -1)
    chosen = angles[:, 0].clone()
    for axis in (1, 2):
        places = slice(axis, 3 * sections[axis], 3)
        chosen[:, places] = angles[:, axis, places]
    return chosen


def film_ids():
    """Two words, an image of 2 x 3 patches, three words: as Qwen2-VL counts."""
    rows = [[0, 0, 0], [1, 1, 1]] + [[2, 2 + y, 2 + x] for y in range(2) for x in range(3)]
    return torch.tensor(rows + [[n, n, n] for n in (5, 6, 7)])


ROTATIONS = {
    "axial-qwen2-vl": ({}, GRID),
    "axial-eva-02": ({"layout": "interleaved", "theta": 100}, GRID),
    "axial-pixtral": ({"frequencies": "split"}, GRID),
    "axial-hunyuan": ({"order": "alternating", "frequencies": "split"}, GRID),
    "axial-llama4-vision": ({"layout": "interleaved", "firstAxis": "x"}, GRID + 1),
}


def write_rotate(name, position, ids, angles):
    x = normal(torch.Generator().manual_seed(len(name)), 2, len(ids), WIDTH)
    write(f"rotate-{name}", "rotate", position,
          {"input.x": x, "input.positions": ids, "expected.x": turn(x.double(), angles, position.get("layout", "half"))},
          tolerance={"absolute": 2e-6, "relative": 1e-6})


def write_attention(name, position, angles_of, query_ids, key_ids, rng):
    """Causal attention with its gradients; the last query sees the last key."""
    def scheme(q, k, _):
        return turn(q, angles_of(query_ids), "half") @ turn(k, angles_of(key_ids), "half").transpose(1, 2)

    write_gradients(name, position, {}, scheme, query_ids, key_ids, rng, causal=True)


def write_gradients(name, position, tensors, scheme, query_ids, key_ids, rng, causal=False):
    queries, keys = len(query_ids), len(key_ids)
    inputs = {
        "query": normal(rng, HEADS, queries, WIDTH),
        "key": normal(rng, KEY_HEADS, keys, WIDTH),
        "value": normal(rng, KEY_HEADS, keys, WIDTH),
    }
    gradient = normal(rng, HEADS, queries, WIDTH)
    leaves, learned = in_double(inputs), in_double(tensors)
    k, v = (leaves[side].repeat_interleave(HEADS // KEY_HEADS, 0) for side in ("key", "value"))
    logits = scheme(leaves["query"] / math.sqrt(WIDTH), k, learned)
    if causal:
        i, j = torch.arange(keys - queries, keys), torch.arange(keys)
        logits = logits.masked_fill(j[None, :] > i[:, None], -math.inf)
    output = torch.softmax(logits, -1) @ v
    (output * gradient.double()).sum().backward()
    stored = {f"input.{key}": value for key, value in inputs.items()}
    stored |= {"input.queryPositions": query_ids.clone(), "input.keyPositions": key_ids.clone(), "input.outputGradient": gradient}
    stored |= {f"position.{key}": value for key, value in tensors.items()}
    stored |= {f"expected.gradient.{key}": value.grad for key, value in leaves.items()}
    stored |= {f"expected.gradient.position.{key}": value.grad for key, value in learned.items()}
    write(f"gradients-{name}", "attention-gradients", position, stored, mask={"causal": causal},
          tolerance={"absolute": 1e-4, "relative": 1e-4})


def rotations():
    for name, (fields, ids) in ROTATIONS.items():
        write_rotate(name, {"type": "axial-rope", **fields}, ids, axial_angles(ids, **fields))
    normalized = {"type": "axial-rope", "theta": 100, "coordinates": "normalized", **SIZES}
    write_rotate("axial-dinov3", normalized, GRID, normalized_angles(HEIGHT, COLUMNS))
    ids = film_ids()
    for name, sections, order in (("sections-qwen2-vl", [2, 3, 3], "contiguous"), ("sections-qwen3-vl", [4, 2, 2], "interleaved")):
        position = {"type": "rope", "theta": 1000000, "sections": sections, "sectionOrder": order}
        angles = lambda ids, sections=sections, order=order: section_angles(ids, sections, order == "interleaved", theta=1000000)
        write_rotate(name, position, ids, angles(ids))
        write_attention(name, position, angles, ids[-4:], ids, torch.Generator().manual_seed(71))
    write_attention("axial-rope", {"type": "axial-rope"}, axial_angles, GRID[-4:], GRID, torch.Generator().manual_seed(72))


def check_rotations():
    """Against transformers 5.24, whose rotary modules are a table of frequencies and a `recomposition_frequencies`."""
    from types import SimpleNamespace

    from transformers.models.dinov3_vit.modeling_dinov3_vit import get_patches_center_coordinates
    from transformers.models.pixtral.modeling_pixtral import PixtralVisionRotaryEmbedding as Pixtral
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLRotaryEmbedding as Contiguous
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLVisionRotaryEmbedding as Vision
    from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding as Interleaved

    coordinates = get_patches_center_coordinates(4, 6, torch.float32, "cpu")
    inverse = 1 / 100 ** torch.arange(0, 1, 4 / 32)
    same("DINOv3", normalized_angles(4, 6, 32), (2 * math.pi * coordinates[:, :, None] * inverse).flatten(1, 2))
    for name, theirs, fields in (("Qwen2-VL's tower", Vision, {}), ("Pixtral", Pixtral, {"frequencies": "split"})):
        config = SimpleNamespace(rope_parameters={"rope_theta": 10000}, head_dim=WIDTH)
        inverse, _ = theirs.compute_axial_rope_parameters(config)
        angles = theirs.recomposition_frequencies(None, GRID.T[None, ..., None].float() * inverse)
        same(name, axial_angles(GRID, **fields), angles[0, :, : WIDTH // 2])
    ids = film_ids()
    angles = ids.T[:, None, :, None].float() * powers(10000, 2 * torch.arange(WIDTH // 2) / WIDTH).float()
    for name, theirs, sections, interleaved in (("Qwen2-VL", Contiguous, [2, 3, 3], False), ("Qwen3-VL", Interleaved, [4, 2, 2], True)):
        ours = section_angles(ids, sections, interleaved)
        chosen = theirs.recomposition_frequencies(SimpleNamespace(mrope_section=sections), angles.clone())
        same(name, ours, chosen[0, :, : WIDTH // 2])
    check_turned_rotations()


def check_turned_rotations():
    """Those whose modules turn complex numbers or pairs of neighbours themselves: compared by what they turn."""
    from types import SimpleNamespace

    from timm.layers.pos_embed_sincos import apply_rot_embed, build_rotary_pos_embed
    from transformers.models.llama4.modeling_llama4 import Llama4VisionRotaryEmbedding, vision_apply_rotary_emb

    x = normal(torch.Generator().manual_seed(73), TOKENS, WIDTH)
    sin, cos = build_rotary_pos_embed([HEIGHT, COLUMNS], dim=WIDTH, in_pixels=False, temperature=10000)
    same("EVA-02", turn(x.double(), axial_angles(GRID), "interleaved"), apply_rot_embed(x, sin, cos))

    side = 4
    config = SimpleNamespace(
        image_size=side, patch_size=1, hidden_size=2 * WIDTH, num_attention_heads=2, rope_parameters={"rope_theta": 10000})
    ids = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"), -1).reshape(-1, 2) + 1
    x = normal(torch.Generator().manual_seed(74), 1, side * side + 1, 2, WIDTH)  # the last one is the class token
    theirs, _ = vision_apply_rotary_emb(x, x, Llama4VisionRotaryEmbedding._compute_freqs_ci(config))
    ours = turn(x[0, :-1].transpose(0, 1).double(), axial_angles(ids, firstAxis="x"), "interleaved")
    same("Llama 4's tower", ours.transpose(0, 1), theirs[0, :-1])
    same("Llama 4's class token", x[0, -1], theirs[0, -1])


# ------------------------------------------------------------------------------------------------ biases


def differences(query_ids, key_ids):
    return (query_ids[:, None] - key_ids[None, :]).unbind(-1)


def swin(t, dy, dx):
    return t["table"][(dy + HEIGHT - 1) * (2 * COLUMNS - 1) + dx + COLUMNS - 1].permute(2, 0, 1)


def levit(t, dy, dx):
    return t["table"][dy.abs() * COLUMNS + dx.abs()].permute(2, 0, 1)


def log_cpb(t, dy, dx, height=HEIGHT, width=COLUMNS):
    scaled = torch.stack([8 * dy.double() / (height - 1), 8 * dx.double() / (width - 1)], -1)
    coordinates = scaled.sign() * torch.log2(scaled.abs() + 1) / math.log2(8)
    hidden = torch.relu(coordinates @ t["weight1"].T + t["bias1"])
    return (16 * torch.sigmoid(hidden @ t["weight2"].T)).permute(2, 0, 1)


BIASES = {
    "swin": (swin, SIZES, lambda rng: {"table": normal(rng, (2 * HEIGHT - 1) * (2 * COLUMNS - 1), HEADS)}),
    "levit": (levit, SIZES, lambda rng: {"table": normal(rng, TOKENS, HEADS)}),
    "log-cpb": (log_cpb, {**SIZES, "width": 8}, lambda rng: {
        "weight1": normal(rng, 8, 2), "bias1": normal(rng, 8, scale=0.5), "weight2": normal(rng, HEADS, 8, scale=0.5)}),
}


def biases():
    for number, (name, (formula, fields, make)) in enumerate(BIASES.items()):
        rng = torch.Generator().manual_seed(80 + number)
        tensors, position = make(rng), {"type": name, **fields}
        stored = {f"position.{key}": value for key, value in tensors.items()}
        learned = in_double(tensors)
        write(f"bias-{name}", "bias", position, {**stored, "expected.bias": formula(learned, *differences(GRID, GRID))},
              heads=HEADS, queryLength=TOKENS, keyLength=TOKENS, tolerance=LOOSE)
        # Patches in another order: ids say where they are.
        order = torch.randperm(TOKENS, generator=rng)
        query_ids, key_ids = GRID[order][:7], GRID[order]
        scheme = lambda q, k, t, formula=formula, at=(query_ids, key_ids): q @ k.transpose(1, 2) + formula(t, *differences(*at))
        write_gradients(name, position, tensors, scheme, query_ids, key_ids, rng)


def check_biases():
    from transformers import LevitConfig, Swinv2Config
    from transformers.models.levit.modeling_levit import LevitAttention
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

    square = torch.stack([torch.arange(16) // 4, torch.arange(16) % 4], -1)
    dy, dx = differences(square, square)
    theirs = Swinv2SelfAttention(Swinv2Config(), 32, 4, [4, 4])
    mlp = theirs.continuous_position_bias_mlp
    t = {"weight1": mlp[0].weight.double(), "bias1": mlp[0].bias.double(), "weight2": mlp[2].weight.double()}
    table = mlp(theirs.relative_coords_table).view(-1, 4)
    bias = 16 * torch.sigmoid(table[theirs.relative_position_index.view(-1)].view(16, 16, 4).permute(2, 0, 1))
    same("swin v2", log_cpb(t, dy, dx, 4, 4), bias, 1e-5)
    theirs = LevitAttention(16, 4, 4, 2, 5)
    theirs.attention_biases.data.normal_()
    square = torch.stack([torch.arange(25) // 5, torch.arange(25) % 5], -1)
    dy, dx = differences(square, square)
    same("levit", levit({"table": theirs.attention_biases.T}, dy, dx), theirs.attention_biases[:, theirs.attention_bias_idxs])
    theirs = SwinRelativePositionBias(HEADS, (HEIGHT, COLUMNS))
    theirs.relative_position_bias_table.data.normal_()
    index = theirs.relative_position_index.view(TOKENS, TOKENS)
    ours = swin({"table": theirs.relative_position_bias_table}, *differences(GRID, GRID))
    same("swin", ours, theirs.relative_position_bias_table[index].permute(2, 0, 1))


# ------------------------------------------------------------------------------------------------ embeddings


def waves(places, dim, interleaved):
    angles = places.double()[:, None] * powers(10000, 2 * torch.arange(dim // 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1) if interleaved else torch.cat([angles.sin(), angles.cos()], -1)


def write_table(name, position, length, dim, expected, tensors=None):
    stored = {f"position.{key}": value for key, value in (tensors or {}).items()}
    write(f"table-{name}", "table", position, {**stored, "expected.table": expected}, length=length, dim=dim,
          tolerance={"absolute": 2e-6, "relative": 1e-6})


def mae(dim):
    return torch.cat([waves(X, dim // 2, False), waves(Y, dim // 2, False)], -1)


def detr(dim):
    y, x = (2 * math.pi * (places + 1) / (n + 1e-6) for places, n in ((Y, HEIGHT), (X, COLUMNS)))
    return torch.cat([waves(y, dim // 2, True), waves(x, dim // 2, True)], -1)


def resized(table, prefix, height, width, to_height, to_width, antialias):
    grid = table[prefix:].double().reshape(1, height, width, -1).permute(0, 3, 1, 2)
    grid = torch.nn.functional.interpolate(grid, (to_height, to_width), mode="bicubic", align_corners=False, antialias=antialias)
    return torch.cat([table[:prefix].double(), grid[0].permute(1, 2, 0).reshape(to_height * to_width, -1)])


def embeddings():
    write_table("sinusoidal-2d-mae", {"type": "sinusoidal-2d", "gridWidth": COLUMNS, "prefixTokens": 1}, TOKENS + 1, 16,
                torch.cat([torch.zeros(1, 16).double(), mae(16)]))
    write_table("sinusoidal-2d-detr", {"type": "sinusoidal-2d", "layout": "interleaved", "firstAxis": "y",
                                       "coordinates": "normalized", **SIZES}, TOKENS, 16, detr(16))
    rng = torch.Generator().manual_seed(90)
    rows, columns = normal(rng, HEIGHT, 8), normal(rng, COLUMNS, 8)
    write_table("axial-learned-sum", {"type": "axial-learned", **SIZES}, TOKENS, 8, rows.double()[Y] + columns.double()[X],
                {"rows": rows, "columns": columns})
    write_table("axial-learned-detr", {"type": "axial-learned", "combine": "concatenate", "firstAxis": "x", **SIZES}, TOKENS, 16,
                torch.cat([columns.double()[X], rows.double()[Y]], -1), {"rows": rows, "columns": columns})
    table = normal(rng, 2 + TOKENS, 8)
    for antialias in (False, True):
        for height, width in ((7, 4), (2, 3), (3, 11), (1, 1)):
            fields = {"type": "learned-grid", "prefixTokens": 2, **SIZES, "targetHeight": height, "targetWidth": width, "antialias": antialias}
            write_table(f"learned-grid-{height}x{width}{'-antialias' if antialias else ''}", fields, 2 + height * width, 8,
                        resized(table, 2, HEIGHT, COLUMNS, height, width, antialias), {"table": table})
    short = normal(rng, 2 + 6, 8)
    stretched = torch.nn.functional.interpolate(short[2:].double().T[None], 17, mode="linear", align_corners=True)[0].T
    write_table("learned-stretched", {"type": "learned", "offset": 2, "stretchTo": 17}, 17, 8, stretched, {"table": short})


def check_embeddings():
    from transformers.models.detr.modeling_detr import DetrSinePositionEmbedding

    theirs = DetrSinePositionEmbedding.build_sine_position_embedding((1, 1, HEIGHT, COLUMNS), "cpu", torch.float32, 8, normalize=True, scale=2 * math.pi)
    same("detr", detr(16), theirs[0].permute(1, 2, 0).reshape(TOKENS, 16))
    from transformers.models.vit_mae.modeling_vit_mae import build_2d_sinusoidal_position_embedding

    # transformers builds rows before columns, and swaps the halves for the published weights.
    theirs = build_2d_sinusoidal_position_embedding(HEIGHT, COLUMNS, 16)
    same("MAE", mae(16), torch.cat([theirs[:, 8:], theirs[:, :8]], -1))


if __name__ == "__main__":
    for check in (check_rotations, check_biases, check_embeddings):
        check()
    for files in (rotations, biases, embeddings):
        files()
