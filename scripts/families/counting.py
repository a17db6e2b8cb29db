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


def heads_of(config):
    """The classes that have a language head for a configuration, the best first."""
    return [head for head in HEADS if type(config) in head._model_mapping.keys()]


def head_class(config):
    """The name of the class that build() makes."""
    found = heads_of(config)[0]._model_mapping[type(config)]
    return (found[0] if isinstance(found, tuple) else found).__name__


def build(config):
    """The model with its language head, on the meta device."""
    refused = None
    for head in heads_of(config):
        try:
            with torch.device("meta"):
                return head.from_config(config)
        except Exception as problem:
            refused = problem
    raise refused or ValueError(f"no language model for {config.model_type}")


def runs(model):
    """Whether the model takes a few tokens, shapes alone being computed."""
    tokens = torch.zeros((1, 8), dtype=torch.long, device="meta")
    try:
        with torch.device("meta"), torch.no_grad():
            model.eval()(input_ids=tokens)
    except Exception:  # whatever its code raises
        return False
    return True


def parts(model):
    """Parameters by the first two steps of their names, for whoever describes a family."""
    found = collections.Counter()
    for name, parameter in model.named_parameters():
        found[".".join(name.split(".")[:2]) if name.count(".") > 1 else name.split(".")[0]] += parameter.numel()
    return dict(found)


def counts(model):
    """All parameters; buffers that checkpoints hold and optimizers never see (a router's correction bias) apart.

    Of an omni model those of what thinks, which is what engines run and trainers train.
    """
    model = getattr(model, "thinker", model)
    corrections = sum(b.numel() for name, b in model.named_buffers() if name.endswith("correction_bias"))
    return {"parameters": sum(p.numel() for p in model.parameters()), "corrections": corrections}


def counted(config, must_run=False):
    """What the model of a configuration counts.

    Classes build what cannot run (heads that do not fit their projections), which is no model: where the one of class
    defaults runs on the meta device, others must."""
    model = build(config)
    if must_run and not runs(model):
        raise ValueError("is built but does not run")
    return counts(model)


def written(config):
    """What save_pretrained() writes of a configuration."""
    return json.loads(config.to_json_string(use_diff=True))
