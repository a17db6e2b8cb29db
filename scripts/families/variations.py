"""Random legal variations of a configuration: sizes, switches and layer patterns that its class accepts.

A variation is legal when the class reads it and builds a model of it; what it does not accept is drawn again with
fewer changes.
"""
import copy
import random
import re

LAYERS = re.compile(r"(^|_)(n_layers?|num_layers|layers|depth|num_blocks|n_blocks|num_transformer_layers)$")
HEADS = re.compile(r"(^|_)(n_heads?|num_heads|heads|attention_heads|key_heads|n_head_kv)$")
KV_HEADS = re.compile(r"(kv_heads|key_value_heads|kv_n_heads)$")
HEAD_DIM = re.compile(r"(head_dim|d_kv|kv_channels)$")
HIDDEN = re.compile(r"^(.*_)?(hidden_size|d_model|n_embd|embed_dim|hidden_dim|embedding_size|dim)$")
INNER = re.compile(r"(intermediate_size|ffn_dim|d_ff|n_inner|ffn_hidden_size|mlp_dim|inner_dim)")
EXPERTS = re.compile(r"(num_experts|n_routed_experts|num_local_experts|moe_num_experts)$")
TOP_K = re.compile(r"(experts_per_tok(en)?|top_k|topk|moe_k|experts_topk)$")
ONE_OR_NONE = re.compile(r"(shared_experts|n_group|topk_group)$")
ONE_AT_LEAST = re.compile(r"(_id|_token|_ids|_idx|_index|version|seed|dtype|group|frequency|topk_group|pad)$|token_id")

# Switches of every configuration class that are about a call or about another role of the model.
NOT_STRUCTURE = {
    "add_cross_attention", "chunk_size_feed_forward", "cross_attention_hidden_size", "is_decoder", "is_encoder_decoder",
    "output_attentions", "output_hidden_states", "pretraining_tp", "pruned_heads", "return_dict", "tie_encoder_decoder",
    "torchscript", "use_cache",
}

# Numbers that say what others say already.
DERIVED = {
    "xlstm": {"embedding_dim": lambda node: node["hidden_size"], "num_blocks": lambda node: node["num_hidden_layers"]},
    "zamba": {
        "attention_hidden_size": lambda node: 2 * node["hidden_size"],
        "attention_head_dim": lambda node: 2 * node["hidden_size"] // node["num_attention_heads"],
    },
}

# What a class asks every file for.
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
NEEDED = {
    "cohere_compass_text": {"rope_parameters": {"full_attention": ROPE, "sliding_attention": ROPE}},
    "dbrx": {"attn_config": {"kv_n_heads": 8, "clip_qkv": 8.0, "rope_theta": 10000.0}},
    "dots1": {"n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv"], "num_hidden_layers": 4},
}

WIDTHS = (64, 128, 192, 256, 384, 512)


def vary_integer(draw, key, value):
    """Another value of a whole number, by what its name says that it counts."""
    if ONE_AT_LEAST.search(key):
        return value
    if KV_HEADS.search(key):
        return draw.choice((1, 2, 4))
    if TOP_K.search(key):
        return draw.choice((1, 2, 3))
    if EXPERTS.search(key):
        return draw.choice((4, 6, 8))
    if HEADS.search(key):
        return draw.choice((4, 8, 16))
    if HEAD_DIM.search(key):
        return draw.choice((16, 32, 64))
    if INNER.search(key):
        return draw.choice((96, 160, 256, 512, 640))
    if HIDDEN.search(key):
        return draw.choice(WIDTHS)
    if LAYERS.search(key):
        return draw.randint(1, 6)
    if "vocab" in key:
        return value + draw.randint(1, 999)
    return draw.choice((value + 1, 2 * value, max(1, value // 2)))


def vary_list(draw, key, value):
    """A list of words in another order of the same words; other lists stay, except that they may be left out."""
    if value and all(isinstance(word, str) for word in value) and "layer" in key:
        return [draw.choice(sorted(set(value))) for _ in value]
    return value


def layers_of(node):
    return next((v for k, v in node.items() if isinstance(v, int) and isinstance(k, str) and LAYERS.search(k)), None)


def resize_lists(node, layers):
    """Lists with a value a layer follow a new number of layers."""
    for key, value in node.items():
        if isinstance(value, list) and layers and len(value) == layers and layers != layers_of(node):
            node[key] = [value[i % layers] for i in range(layers_of(node))]


def vary(draw, node, share, path=()):
    """Changes about `share` of the numbers and switches of a nested configuration in place; few layers in any case."""
    layers = layers_of(node)
    for key, value in list(node.items()):
        if key in NOT_STRUCTURE or not isinstance(key, str):
            continue
        if isinstance(value, dict):
            if "rope" not in key and key not in ("id2label", "label2id"):
                vary(draw, value, share, path + (key,))
        elif isinstance(value, bool):
            if draw.random() < share / 2:
                node[key] = not value
        elif isinstance(value, int):
            few = LAYERS.search(key) or EXPERTS.search(key) or TOP_K.search(key)
            if (few or draw.random() < share) and value > 0:
                node[key] = vary_integer(draw, key, value)
        elif isinstance(value, float):
            if re.search(r"ratio|mult|expan", key) and draw.random() < share:
                node[key] = draw.choice((2.0, 3.0, 4.0))
        elif isinstance(value, list):
            node[key] = vary_list(draw, key, value) if draw.random() < share else value
        elif value is None and draw.random() < share:
            if any(sized.search(key) for sized in (KV_HEADS, HEAD_DIM, INNER, EXPERTS, TOP_K)):
                node[key] = vary_integer(draw, key, 64)
            elif ONE_OR_NONE.search(key):
                node[key] = 1
            elif key == "vocab_size":
                node[key] = draw.randint(100, 999)
    resize_lists(node, layers)
    if draw.random() < 0.8:
        for derived in ("layer_types", "mlp_layer_types", "layers_block_type"):
            node.pop(derived, None)


def settle(node):
    """Makes numbers agree that a model could not run with otherwise: grouped heads, and experts a token uses."""
    for value in node.values():
        if isinstance(value, dict):
            settle(value)
    heads = next((node[k] for k in ("num_attention_heads", "n_head", "num_heads") if isinstance(node.get(k), int)), None)
    for key, value in node.items():
        if not isinstance(key, str) or not isinstance(value, int) or isinstance(value, bool):
            continue
        if heads and KV_HEADS.search(key) and (value > heads or heads % value):
            node[key] = heads
        if TOP_K.search(key):
            experts = [v for k, v in node.items() if isinstance(k, str) and isinstance(v, int) and EXPERTS.search(k)]
            node[key] = min([value, *experts])
    for key, value in DERIVED.get(node.get("model_type"), {}).items():
        node[key] = value(node)
    if "qk_head_dim" in node:
        node["qk_head_dim"] = node["qk_nope_head_dim"] + node["qk_rope_head_dim"]
    width = node.get("hidden_size")
    if heads and node.get("head_dim", 1) is None and isinstance(width, int) and width % heads:
        node["hidden_size"] = heads * max(8, width // heads)


def variations(config_class, default, accepts, count, seed):
    """Up to `count` variations of `default` that `accepts` builds: (configuration, what accepts returned) each."""
    draw = random.Random(seed)
    found = []
    share = 0.6
    for _ in range(12 * count):
        if len(found) == count:
            break
        changed = copy.deepcopy(default) | NEEDED.get(seed, {})
        vary(draw, changed, share)
        settle(changed)
        try:
            config = config_class.from_dict(changed)
            found.append((config, accepts(config)))
            share = 0.6
        except Exception:  # whatever its class raises: not legal
            share = max(0.05, 0.8 * share)
    return found
