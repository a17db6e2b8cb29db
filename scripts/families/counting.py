"""Parameters of the model that a configuration describes, without memory for them: on PyTorch's meta device."""
import collections
import json

import torch
from transformers.models.auto import modeling_auto as auto

# The class that a file stands for where it does not name one: the language model with its head.
HEADS = (
    auto.AutoModelForImageTextToText,
    auto.AutoModelForSeq2SeqLM,
    auto.AutoModelForSpeechSeq2Seq,
    auto.AutoModelForCausalLM,
    auto.AutoModelForMultimodalLM,
    auto.AutoModelForMaskedLM,
)

MAPPINGS = (
    auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES,
    auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)


def language_model_types():
    return sorted(set().union(*MAPPINGS))


def build(config):
    """The model with its language head, on the meta device."""
    refused = None
    for head in HEADS:
        if type(config) in head._model_mapping.keys():
            try:
                with torch.device("meta"):
                    return head.from_config(config)
            except Exception as problem:
                refused = problem
    raise refused or ValueError(f"no language model for {config.model_type}")


def counts(model):
    """All parameters, and how many by the first two steps of their names; buffers that checkpoints hold and optimizers
    never see (a router's correction bias) apart."""
    parts = collections.Counter()
    for name, parameter in model.named_parameters():
        parts[".".join(name.split(".")[:2]) if name.count(".") > 1 else name.split(".")[0]] += parameter.numel()
    corrections = sum(b.numel() for name, b in model.named_buffers() if name.endswith("correction_bias"))
    return {"parameters": sum(parts.values()), "corrections": corrections, "parts": dict(parts)}


def written(config):
    """What save_pretrained() writes of a configuration."""
    return json.loads(config.to_json_string(use_diff=True))
