"""Small models of every family: sizes that its class accepts, and no dropout, which draws masks of its own."""
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

POSITIONS = 64
SAMPLES = 2
VOCABULARY = 512

# Where a configuration has the key, this is its value; a family below may say otherwise.
SIZES = {
    "hidden_size": 512, "n_embd": 512, "d_model": 512, "out_hidden_size": 512,
    "num_attention_heads": 8, "n_head": 8, "n_heads": 8, "num_heads": 8,
    "num_key_value_heads": 2, "head_dim": 64,
    "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 1152, "decoder_ffn_dim": 1152,
    "intermediate_size": 1152, "ffn_dim": 1152, "n_inner": 1152, "ffn_hidden_size": 1152,
    "vocab_size": VOCABULARY, "pad_token_id": None,
    "num_experts": 8, "num_local_experts": 8, "n_routed_experts": 8, "moe_num_experts": 8,
    "num_experts_per_tok": 2, "moe_k": 2, "moe_topk": 2,
    "moe_intermediate_size": 320, "shared_expert_intermediate_size": 448, "n_shared_experts": 1,
    "moe_num_shared_experts": 1, "num_shared_experts": 1, "n_group": 1, "topk_group": 1, "num_expert_group": 1,
    "q_lora_rank": 192, "kv_lora_rank": 128, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 64,
    "linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 64, "linear_value_head_dim": 64,
}
LAYER_KEYS = (
    "num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers",
)
PATTERN_KEYS = (  # what the class derives from the number of layers
    "layer_types", "mlp_layer_types", "indexer_types", "layers_block_type", "no_rope_layers", "moe_layers", "attention_layers",
    "per_layer_config", "hybrid_layer_ids",
)

TEXT_PARTS = ("text_config", "thinker_config", "encoder", "decoder")
TOWERS = ("vision_config", "audio_config")

LINEAR_AND_FULL = ["linear_attention", "full_attention"]
ROBERTA = {"pad_token_id": 1}
DUALITY = {"mamba_n_heads": 16, "mamba_d_head": 64, "mamba_d_state": 64}

# Multimodal rotary embeddings have sections for heads of 128.
WIDE_HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_heads": 8}
# Its features are those of two layers of the tower, which has one here.
MOLMO = {
    "adapter_config": {
        "vision_feature_layer": [0, 0], "hidden_size": 512, "text_hidden_size": 512, "num_attention_heads": 8,
        "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 1152,
    },
}
INDEXER = {"index_n_heads": 4, "index_head_dim": 64}

# Samples that are longer than the window of some layers, which PyTorch's kernels are then told by a mask.
NARROW = ", narrow window"
NARROW_WINDOWS = {
    "sliding_window": (
        "mistral", "ministral", "phi3", "starcoder2", "olmo3", "exaone4", "cohere2", "gemma2", "gemma3_text",
        "gemma3n_text", "gemma4_text", "gpt_oss",
    ),
    "attention_chunk_size": ("llama4_text",), "local_attention": ("modernbert",),
}

# Samples of several lengths, which a mask tells apart.
PADDED = ", padded"
PADDED_FAMILIES = ("llama", "qwen3", "mixtral", "gemma3_text", "gemma2", "phi3", "gpt2", "deepseek_v3", "bert", "bart")

# Accelerators that FlashAttention has no kernels for.
BEFORE_AMPERE = ", before Ampere"
OLD_FAMILIES = ("llama", "qwen3", "mixtral", "gemma3_text", "phi3", "gpt2", "falcon", "deepseek_v3", "bert")

# Experts beside the dense MLP of each layer, which some models of a family have.
MIXTURE = ", mixture"

# How the program is asked for the same.
WORDS = {PADDED: "--samples 1k --sample-tokens 32", BEFORE_AMPERE: "--gpu t4"}

# What differs by family; "layers": both counts, whose difference is a period of the layers' pattern;
# "period": what a pattern repeats, where the class derives none.
FAMILIES = {
    # Llama-like decoders
    "llama": {}, "mistral": {}, "ministral3": {}, "qwen2": {}, "qwen3": {}, "smollm3": {"layers": (4, 8)},
    "ministral": {}, "seed_oss": {}, "arcee": {}, "apertus": {}, "cwm": {"layers": (4, 8)}, "helium": {}, "internlm3": {},
    "ernie4_5": {},
    "exaone4": {"layers": (4, 8)}, "hunyuan_v1_dense": {}, "granite": {}, "cohere": {}, "cohere2": {"layers": (4, 8)},
    "olmo": {}, "olmo2": {}, "olmo3": {"layers": (4, 8)}, "glm": {}, "glm4": {}, "phi3": {}, "phi": {}, "stablelm": {},
    "starcoder2": {}, "nemotron": {}, "persimmon": {}, "bitnet": {}, "nanochat": {}, "jais2": {},
    "diffllama": {},
    # Gemma
    "gemma": {}, "gemma2": {}, "gemma3_text": {"layers": (6, 12)}, "vaultgemma": {},
    "gemma4_text": {"layers": (6, 12), "vocab_size_per_layer_input": VOCABULARY, "global_head_dim": 128},
    "gemma3n_text": {
        "layers": (5, 10), "vocab_size_per_layer_input": VOCABULARY, "num_kv_shared_layers": 0,
        "hidden_size_per_layer_input": 64, "intermediate_size": 1152,
        "period": {"activation_sparsity_pattern": [0.95, 0.0, 0.0, 0.0, 0.0]},
    },
    # mixtures
    "mixtral": {}, "qwen2_moe": {}, "qwen3_moe": {}, "olmoe": {}, "flex_olmo": {}, "phimoe": {}, "granitemoe": {},
    "granitemoeshared": {"shared_intermediate_size": 448}, "gpt_oss": {}, "ernie4_5_moe": {"layers": (3, 5)},
    "glm4_moe": {"layers": (2, 4), "first_k_dense_replace": 1}, "dots1": {"first_k_dense_replace": 1},
    "hunyuan_v1_moe": {}, "minimax_m2": {}, "llama4_text": {"layers": (4, 8)}, "afmoe": {"layers": (4, 8)},
    "solar_open": {}, "mellum": {}, "exaone_moe": {}, "hy_v3": {}, "mimo_v2_flash": {}, "kolibri1": {}, "cohere2_moe": {},
    "granite_swa": {}, "granitemoe_swa": {}, "aria_text": {},
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 10000.0},
        "ffn_config": {"ffn_hidden_size": 320, "moe_num_experts": 8, "moe_top_k": 2},
    },
    # latent attention
    "deepseek_v2": {"first_k_dense_replace": 1}, "deepseek_v3": {"first_k_dense_replace": 1},
    "glm4_moe_lite": {"first_k_dense_replace": 1}, "minicpm3": {}, "youtu": {},
    "mistral4": {
        "head_dim": 96,
        "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 10000.0, "factor": 128.0, "partial_rotary_factor": 1 / 3,
            "original_max_position_embeddings": 8192, "llama_4_scaling_beta": 0.1,
        },
    },
    "deepseek_v32": {"period": {"mlp_layer_types": ["dense", "sparse"]}, **INDEXER},
    "glm_moe_dsa": {
        "period": {"mlp_layer_types": ["dense", "sparse"], "indexer_types": ["full", "shared"]}, **INDEXER,
    },
    # Experts that do nothing take as many rows as the router happens to give them.
    "longcat_flash": {"qk_head_dim": None, "expert_ffn_hidden_size": 320, "zero_expert_num": 0, "moe_topk": 2},
    # before Llama
    "gpt2": {}, "gpt_neox": {}, "gpt_bigcode": {}, "gpt_neo": {},
    "gptj": {"rotary_dim": 16}, "codegen": {"rotary_dim": 16}, "bloom": {}, "mpt": {},
    "opt": {"word_embed_proj_dim": 512},
    "falcon": {}, "biogpt": {}, "xglm": {},
    # states along the sequence, alone and beside attention
    "mamba": {"state_size": 16, "time_step_rank": 32, "intermediate_size": 1024},
    "falcon_mamba": {"state_size": 16, "time_step_rank": 32, "intermediate_size": 1024},
    "mamba2": {"num_heads": 16, "state_size": 64, "n_groups": 2},
    "jamba": {"layers": (4, 8), "attn_layer_period": 4, "attn_layer_offset": 2, "mamba_dt_rank": 32},
    "bamba": {"period": {"attn_layer_indices": [1, 3]}, **DUALITY},
    "falcon_h1": {"mamba_d_ssm": 1024, **DUALITY},
    "zamba2": {
        "layers": (3, 6), "period": {"layers_block_type": ["linear_attention", "linear_attention", "hybrid"]},
        "num_key_value_heads": 8, "n_mamba_heads": 16, "mamba_headdim": 64, "attention_hidden_size": 1024,
        "attention_head_dim": 128, "adapter_rank": 32,
    },
    "nemotron_h": {
        "layers": (4, 8),
        "period": {"layers_block_type": ["linear_attention", "moe", "full_attention", "mlp"]},
        "mamba_num_heads": 16, "ssm_state_size": 64, "n_groups": 2, "moe_shared_expert_intermediate_size": 448,
    },
    "granitemoehybrid": {
        "period": {"layer_types": LINEAR_AND_FULL}, "shared_intermediate_size": 448, **DUALITY,
    },
    "lfm2": {"period": {"layer_types": ["conv", "full_attention"]}},
    "lfm2_moe": {"period": {"layer_types": ["conv", "full_attention"]}},
    "qwen3_next": {"layers": (4, 8)}, "qwen3_5_text": {"layers": (4, 8)}, "qwen3_5_moe_text": {"layers": (4, 8)},
    "kimi_linear": {
        "layers": (4, 8), "q_lora_rank": None, "num_experts_per_token": 2, "linear_head_dim": 64, "linear_num_heads": 8,
    },
    "olmo_hybrid": {"layers": (4, 8)},
    "recurrent_gemma": {
        "layers": (3, 6), "lru_width": 512,
    },
    "rwkv": {"attention_hidden_size": 512, "context_length": 64},
    "zamba": {
        "layers": (6, 9), "period": {"layers_block_type": ["linear_attention", "linear_attention", "hybrid"]},
        "num_key_value_heads": 8, "attention_hidden_size": 1024, "attention_head_dim": 128, "mamba_dt_rank": 32,
    },
    "minimax": {"block_size": 32},
    # beside towers
    "mllama": {"layers": (4, 8), "cross_attention_layers": [1, 5]},
    "qwen2_5_vl": WIDE_HEADS, "qwen2_5_omni_thinker": WIDE_HEADS, "qwen3_vl": {}, "qwen3_vl_moe": {},
    "qwen3_omni_moe_thinker": {}, "glm4v": {},
    "glm4v_moe": {"head_dim": 128, "num_attention_heads": 4, "partial_rotary_factor": 0.5, "first_k_dense_replace": 1},
    "ernie4_5_vl_moe": {
        "layers": (3, 5), "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 128,
        "moe_intermediate_size": [320, 320],
    },
    "phi4_multimodal": {}, "lfm2_vl": {}, "aria": {}, "cohere2_vision": {"layers": (4, 8)},
    "molmo2": MOLMO, "gemma3": {"layers": (6, 12)}, "paligemma": {},
    "gemma4": {
        "layers": (6, 12), "vocab_size_per_layer_input": VOCABULARY, "global_head_dim": 128,
        "pad_token_id": 0,
    },
    # encoders
    "bert": {}, "rembert": {}, "roformer": {}, "eurobert": {}, "ernie": {}, "roberta": ROBERTA, "xlm-roberta": ROBERTA, "camembert": ROBERTA, "electra": {"embedding_size": 512},
    "distilbert": {"dim": 512, "hidden_dim": 1152},
    "modernbert": {"layers": (3, 6), "local_attention": 256}, "deberta-v2": {},
    # encoder-decoders
    "t5": {"d_kv": 64, "d_ff": 1152}, "mt5": {"d_kv": 64, "d_ff": 1152}, "umt5": {"d_kv": 64, "d_ff": 1152},
    "longt5": {}, "t5gemma": {"pad_token_id": 0},
    "bart": {}, "florence2": {}, "mbart": {}, "m2m_100": {"pad_token_id": 1}, "marian": {}, "pegasus": {},
    "whisper": {"max_source_positions": POSITIONS, "max_target_positions": POSITIONS},
}


def _layers(config, count):
    for key in LAYER_KEYS:
        if key in config:
            config[key] = count
    for key in PATTERN_KEYS:
        config.pop(key, None)
    if "attention_types" in config:
        config["attention_types"] = [[["global", "local"], count // 2]]
    if "qk_rope_head_dim" in config:
        config["num_key_value_heads"] = config["num_attention_heads"]
        if "head_dim" in config:
            config["head_dim"] = config["qk_rope_head_dim"]


def _shrink(config, count, special, periods):
    """Of a wrapper the text model, or both stacks, has that many layers; a tower beside it has one."""
    config.update({key: value for key, value in SIZES.items() if key in config and not isinstance(config[key], list)})
    config.update({key: 0.0 for key, value in config.items() if "drop" in key and isinstance(value, float)})
    _layers(config, count)
    config.update(special)
    config.update({key: (count * words)[:count] for key, words in periods.items()})
    for part in TEXT_PARTS:
        if isinstance(config.get(part), dict):
            _shrink(config[part], count, {key: value for key, value in special.items() if key in config[part]}, periods)
    for part in TOWERS:
        if isinstance(config.get(part), dict):
            _shrink(config[part], 1, {}, {})


FAMILIES.update({
    family + NARROW: {**FAMILIES[family], key: 24} for key, families in NARROW_WINDOWS.items() for family in families
})
FAMILIES["gemma4_text" + MIXTURE] = {**FAMILIES["gemma4_text"], "enable_moe_block": True, "top_k_experts": 2}
FAMILIES.update({family + PADDED: FAMILIES[family] for family in PADDED_FAMILIES})
FAMILIES.update({family + BEFORE_AMPERE: FAMILIES[family] for family in OLD_FAMILIES})


def configurations(model_type):
    """The two configurations of a family, which differ in their layers."""
    config_class = CONFIG_MAPPING[model_type.partition(",")[0]]
    special = dict(FAMILIES[model_type])
    counts, periods = special.pop("layers", (2, 4)), special.pop("period", {})
    for count in counts:
        config = config_class().to_dict()
        _shrink(config, count, special, periods)
        yield config_class.from_dict(config)
