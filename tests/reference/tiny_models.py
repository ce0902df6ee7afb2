# SPDX-License-Identifier: MIT
# Makes tests/models: for every family of models that transformers has and the package reads, a checkpoint of a few
# thousand random numbers and what transformers makes of it, computed in double: logits and attention weights at a usual
# input, at one longer than the model was trained for, and padded on the left (on the right for encoders). The tensors are
# those that `poslab model FOLDER --check` compares. Run with: pip install torch transformers safetensors
#     python3 tests/reference/tiny_models.py [NAME ...]

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

kOut = Path(__file__).parent.parent / "models"
kVocabulary = 24
kLength, kLong, kPadding = 9, 24, 3
# Of rotary and learned positions alike; kLong lies past it.
kTrained = 16

llama = dict(
    hidden_size=16,
    intermediate_size=20,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    max_position_embeddings=kTrained,
)
gpt2 = dict(n_embd=16, n_layer=2, n_head=2, n_positions=kTrained)
falcon = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=kTrained)


def rope(theta=10000.0, **scaling):
    return dict(rope_parameters=dict(rope_theta=theta, rope_type=scaling.pop("rope_type", "default"), **scaling))


# model_type, and what the config says beside it.
kModels = {
    "mistral": ("mistral", dict(llama, head_dim=8, sliding_window=5)),
    "qwen2": ("qwen2", dict(llama)),
    "qwen2-windows": (
        "qwen2",
        dict(llama, num_hidden_layers=3, use_sliding_window=True, sliding_window=4, max_window_layers=1),
    ),
    "qwen3": ("qwen3", dict(llama, head_dim=8)),
    "phi": ("phi", dict(llama, num_key_value_heads=2, **rope(partial_rotary_factor=0.5))),
    "phi3": ("phi3", dict(llama, sliding_window=None, pad_token_id=0)),
    "phi3-longrope": (
        "phi3",
        dict(
            llama,
            max_position_embeddings=64,
            original_max_position_embeddings=kTrained,
            pad_token_id=0,
            **rope(
                rope_type="longrope",
                short_factor=[1.0, 1.1, 1.3, 1.7],
                long_factor=[1.0, 1.6, 2.9, 4.0],
                original_max_position_embeddings=kTrained,
            ),
        ),
    ),
    "llama-linear": ("llama", dict(llama, attention_bias=True, mlp_bias=True, **rope(rope_type="linear", factor=4.0))),
    "llama-dynamic": ("llama", dict(llama, tie_word_embeddings=True, **rope(rope_type="dynamic", factor=3.0))),
    "llama-yarn": (
        "llama",
        dict(llama, **rope(theta=100.0, rope_type="yarn", factor=4.0, original_max_position_embeddings=8)),
    ),
    "falcon-7b": ("falcon", dict(falcon, bias=False, parallel_attn=True, multi_query=True, alibi=False)),
    "falcon-40b": ("falcon", dict(falcon, new_decoder_architecture=True, num_kv_heads=2, alibi=False)),
    "falcon-11b": (
        "falcon",
        dict(falcon, new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1, alibi=False),
    ),
    "falcon-rw": ("falcon", dict(falcon, alibi=True, bias=True, multi_query=False, parallel_attn=False)),
    "mpt": ("mpt", dict(d_model=12, n_layers=2, n_heads=3, max_seq_len=kTrained)),
    "opt": (
        "opt",
        dict(
            hidden_size=16,
            ffn_dim=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=kTrained,
            word_embed_proj_dim=16,
        ),
    ),
    "roberta": (
        "roberta",
        dict(
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=kTrained + 2,
            type_vocab_size=1,
        ),
    ),
    "bert-untied": (
        "bert",
        dict(
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=kTrained,
            hidden_act="gelu_new",
            tie_word_embeddings=False,
        ),
    ),
    "gpt2-untied": ("gpt2", dict(gpt2, n_inner=24, tie_word_embeddings=False)),
    "gemma": ("gemma", dict(llama, head_dim=12)),
    "stablelm": (
        "stablelm",
        dict(llama, num_key_value_heads=2, use_qkv_bias=True, **rope(partial_rotary_factor=0.25)),
    ),
    "stablelm-parallel": ("stablelm", dict(llama, use_parallel_residual=True, **rope(partial_rotary_factor=0.5))),
    "starcoder2": ("starcoder2", dict(llama, sliding_window=6)),
    "cohere": ("cohere", dict(llama)),
    "smollm3": ("smollm3", dict(llama, num_hidden_layers=4, no_rope_layer_interval=2)),
    "gptj": ("gptj", dict(gpt2, rotary_dim=4)),
    "gpt-bigcode": ("gpt_bigcode", dict(gpt2)),
    "gpt-bigcode-heads": ("gpt_bigcode", dict(gpt2, multi_query=False)),
    "gpt-neox-in-sequence": (
        "gpt_neox",
        dict(
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=kTrained,
            use_parallel_residual=False,
            **rope(partial_rotary_factor=0.5),
        ),
    ),
}
# Those whose table of positions ends, and MPT and GPT-J, whose tables transformers makes for the trained length alone.
kBounded = {"opt", "roberta", "bert-untied", "gpt2-untied", "gpt-bigcode", "gpt-bigcode-heads", "mpt", "gptj"}
kEncoders = {"roberta", "bert-untied"}
# The eager code of transformers 5.24 adds ALiBi twice in Falcon (in the mask and to the scores), its fused code once: the
# logits are of that, and there are no attention weights.
kFused = {"falcon-rw"}


def randomize(model):
    """Numbers large enough that attention is uneven, and gains and biases that are not all alike."""
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            random = torch.randn(tensor.shape)
            if tensor.ndim > 1:
                tensor.copy_(random * 1.2 / tensor.shape[-1] ** 0.5)
            elif name.endswith("bias"):
                tensor.copy_(random * 0.2)
            else:
                tensor.add_(random * 0.2)


def run(model, ids, **more):
    eager = model.config._attn_implementation == "eager"
    with torch.no_grad():
        result = model(torch.tensor([ids]), output_attentions=eager, **more)
    attention = [weights[0].double() for weights in result.attentions] if eager else []
    return result.logits[0].double(), attention


def reference_of(name, model):
    more = {} if name in kEncoders else {"use_cache": False}
    random = torch.Generator().manual_seed(11)
    draw = lambda count: torch.randint(3, kVocabulary, (count,), generator=random).tolist()
    ids = draw(kLength)
    logits, attention = run(model, ids, **more)
    tensors = {"input.ids": torch.tensor(ids), "expected.logits": logits}
    for layer, weights in enumerate(attention):
        tensors[f"expected.attention.{layer}"] = weights
    if name not in kBounded:
        long = draw(kLong)
        tensors["long.ids"] = torch.tensor(long)
        tensors["long.logits"], _ = run(model, long, **more)
    padding, real = [1] * kPadding, [0] * kPadding + [1] * kLength
    if name in kEncoders:
        padded, mask = ids + padding, real[::-1]
    else:
        padded, mask = padding + ids, real
        # Every decoder gives the unpadded logits for these positions; each says in its own way where they begin.
        tensors["padded.positions"] = torch.tensor([0] * kPadding + list(range(kLength)))
    tensors["padded.ids"], tensors["padded.mask"] = torch.tensor(padded), torch.tensor(mask)
    tensors["padded.logits"] = torch.zeros(len(padded), logits.shape[1], dtype=torch.float64)
    tensors["padded.logits"][torch.tensor(mask) == 1] = logits
    return {key: tensor.contiguous() for key, tensor in tensors.items()}


def make(name):
    model_type, fields = kModels[name]
    config = AutoConfig.for_model(
        model_type, vocab_size=kVocabulary, bos_token_id=1, eos_token_id=2, **{"pad_token_id": 1, **fields}
    )
    kind = AutoModelForMaskedLM if name in kEncoders else AutoModelForCausalLM
    torch.manual_seed(7)
    model = kind.from_config(config, attn_implementation="sdpa" if name in kFused else "eager").eval()
    randomize(model)
    folder = kOut / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    for path in folder.iterdir():
        if path.name not in ("config.json", "model.safetensors"):
            path.unlink()
    stated = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(stated, indent=2, sort_keys=True) + "\n")
    save_file(reference_of(name, model.double()), folder / "reference.safetensors")
    for path in folder.iterdir():
        path.chmod(0o644)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{name:24}{size:8} bytes", file=sys.stderr)


if __name__ == "__main__":
    print(f"transformers {transformers.__version__}, torch {torch.__version__}", file=sys.stderr)
    for chosen in sys.argv[1:] or kModels:
        make(chosen)
