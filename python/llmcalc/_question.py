"""Questions from what a training script already holds. Objects are known by what they have, so that none of the
libraries that they come from is needed."""
from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping


class Question:
    """Options as the command line has them, names, and texts that stand for files."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.names: list[str] = []
        self.texts: dict[str, str] = {}

    def as_json(self) -> dict[str, Any]:
        return {**self.options, **({"names": self.names} if self.names else {})}

    def add_text(self, option: str, name: str, values: Mapping[str, Any]) -> None:
        self.texts[name] = json.dumps(values, default=_plain)
        if option == "from":
            self.options.setdefault("from", []).append(name)
        else:
            self.options[option] = name


def _plain(value: Any) -> Any:
    """Enumerations as their values, sets as lists, types by their name: torch.bfloat16 is "bfloat16"."""
    if hasattr(value, "value"):
        return value.value
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value, key=str)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return str(value).rpartition(".")[2]


def _values(thing: Any) -> dict[str, Any]:
    return dict(thing.to_dict() if hasattr(thing, "to_dict") else vars(thing))


def _name_of(thing: Any) -> str:
    return type(thing).__name__ + ".json"


def _add_config(question: Question, config: Any) -> None:
    question.add_text("config", _name_of(config), _values(config))


def _add_training_arguments(question: Question, arguments: Any) -> None:
    """Of what nobody said (None, an empty list) nothing is said."""
    said = {key: value for key, value in _values(arguments).items() if value not in (None, [], "", {})}
    nested = said.get("deepspeed")
    if isinstance(nested, Mapping):
        question.add_text("from", "deepspeed.json", nested)
        del said["deepspeed"]
    question.add_text("from", _name_of(arguments), said)


def _add_peft(question: Question, adapter: Any) -> None:
    question.add_text("from", _name_of(adapter), _values(adapter))


def _add_accelerate(question: Question, state: Any) -> None:
    """An Accelerator, or its state: as `accelerate config` writes what it says."""
    state = getattr(state, "state", state)
    kind = _plain(state.distributed_type)
    written: dict[str, Any] = {"compute_environment": "LOCAL_MACHINE", "distributed_type": kind,
                               "mixed_precision": str(state.mixed_precision), "num_processes": state.num_processes}
    fsdp = getattr(state, "fsdp_plugin", None)
    if fsdp is not None:
        written["fsdp_config"] = _fsdp(fsdp)
    deepspeed = getattr(state, "deepspeed_plugin", None)
    if deepspeed is not None:
        question.add_text("from", "deepspeed.json", deepspeed.deepspeed_config)
    question.add_text("from", "accelerate.json", written)


def _fsdp(plugin: Any) -> dict[str, Any]:
    version = int(getattr(plugin, "fsdp_version", 1) or 1)
    config: dict[str, Any] = {"fsdp_version": version}
    reshard = getattr(plugin, "reshard_after_forward", None)
    strategy = getattr(plugin, "sharding_strategy", None)
    if version >= 2 and isinstance(reshard, bool):
        config["fsdp_reshard_after_forward"] = reshard
    elif strategy is not None:
        config["fsdp_sharding_strategy"] = str(getattr(strategy, "name", strategy))
    offload = getattr(plugin, "cpu_offload", None)
    config["fsdp_offload_params"] = bool(getattr(offload, "offload_params", offload))
    config["fsdp_activation_checkpointing"] = bool(getattr(plugin, "activation_checkpointing", False))
    return config


def _add_module(question: Question, module: Any) -> None:
    """A model, its weights anywhere, also on meta: by its configuration where it has one, else by its size."""
    adapters = getattr(module, "peft_config", None)
    if isinstance(adapters, Mapping):
        for adapter in adapters.values():
            _add_peft(question, adapter)
    config = getattr(module, "config", None)
    if config is not None and hasattr(config, "model_type"):
        _add_config(question, config)
    else:
        question.options["params"] = sum(parameter.numel() for parameter in module.parameters())


def _kind_of(thing: Any) -> Any:
    """How to read an object, by what only its kind has; None for a text."""
    kinds = (
        ("per_device_train_batch_size", _add_training_arguments),
        ("peft_type", _add_peft),
        ("named_parameters", _add_module),
        ("distributed_type", _add_accelerate),
        ("model_type", _add_config),
    )
    if isinstance(thing, Mapping):
        raise TypeError("a mapping does not say what it is: hand over the object, or a file with its text")
    for attribute, add in kinds:
        if hasattr(thing, attribute):
            return add
    raise TypeError(f"{type(thing).__name__} is no model's name, path, transformers configuration, TrainingArguments, "
                    "peft configuration, Accelerator or torch module")


def _as_text(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable):
        return ",".join(str(_as_text(each)) for each in value)
    return str(value)


def _add_thing(question: Question, thing: Any, option: str | None) -> None:
    if isinstance(thing, (str, os.PathLike)):
        text = os.fspath(thing)
        if option is None:
            question.names.append(text)
        elif option == "from":
            question.options.setdefault("from", []).append(text)
        else:
            question.options[option] = text
    else:
        _kind_of(thing)(question, thing)


def read(things: Iterable[Any], options: Mapping[str, Any]) -> Question:
    """`things` are names, paths and objects; `options` those of the command line, with underscores, `from_` for `from`.
    A list is several values, None says nothing."""
    question = Question()
    for thing in things:
        _add_thing(question, thing, None)
    for key, value in options.items():
        option = key.rstrip("_").replace("_", "-")
        if value is None:
            continue
        if option == "from":
            for each in value if isinstance(value, (list, tuple)) else [value]:
                _add_thing(question, each, "from")
        elif option in ("model", "config"):
            _add_thing(question, value, option)
        else:
            question.options[option] = _as_text(value)
    return question
