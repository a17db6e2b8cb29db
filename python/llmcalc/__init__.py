"""Does this LLM run fit, how long does it take, what does it cost? Before the launch, without a GPU.

>>> import llmcalc
>>> answer = llmcalc.fit("llama-3-8b", gpu="h100-sxm:8", method="lora")
>>> answer.fits, answer.needed_bytes, answer.time.step_seconds

Each function is a verb of the command line; its keywords are that verb's options with underscores for dashes
(`llmcalc fit --help`), and `from_` for --from. Models are names, paths, models of the Hub, or objects: a transformers
configuration, TrainingArguments, a peft configuration, an Accelerator, a torch module, also on the meta device.
Questions may be asked from several threads at once; the interpreter is free while they are answered.
"""
from __future__ import annotations

import json
from typing import Any

from . import _door, _question
from ._answer import Answer, BadInput, Values
from ._compare import Comparison, compare
from ._door import Progress

__all__ = ["Answer", "BadInput", "Comparison", "Progress", "Values", "compare", "dtype", "fit", "from_", "gpu", "model",
           "plan", "scale", "serve", "validate"]
__version__ = _door.version


def _ask(verb: str, things: tuple[Any, ...], options: dict[str, Any], progress: Progress | None = None) -> Answer:
    question = _question.read(things, options)
    words = question.as_json()
    code, text = _door.ask(verb, words, question.texts, progress)
    values = json.loads(text)
    if values["kind"] == "error":
        raise BadInput(values["place"], values["problem"], values["hint"])
    return Answer(code, text, lambda form: _door.ask(verb, {**words, "format": form}, question.texts, None)[1])


def fit(*things: Any, progress: Progress | None = None, **options: Any) -> Answer:
    """Whether a run fits, where it peaks, how long it takes and what it costs.

    fit("llama-3-8b", gpu="h100-sxm:8", zero=3, seq="8k"); fit(model.config, training_arguments, gpu="a100-80").
    Raises BadInput where the question cannot be answered.
    """
    return _ask("fit", things, options, progress)


def serve(*things: Any, progress: Progress | None = None, **options: Any) -> Answer:
    """Whether a server starts, how long a context and how many requests it takes, and how fast it is.

    serve("llama-3-8b", engine="vllm", quant="awq", gpu="rtx-4090", context="8k")
    """
    return _ask("serve", things, options, progress)


def plan(*things: Any, progress: Progress | None = None, **options: Any) -> Answer:
    """The best layouts of a run: plan("llama-3-8b", gpu="h100-sxm:8", seq="8k", global_batch=64).

    `progress` is called with the share that is done; False from it, or Ctrl-C, ends the search with what was found so
    far.
    """
    return _ask("plan", things, options, progress or (lambda _: None))


def scale(**options: Any) -> Answer:
    """Parameters, tokens, compute, cost and loss of a run from each other: scale(params="7e9")."""
    return _ask("scale", (), options)


def from_(*things: Any, **options: Any) -> Answer:
    """The question that files, commands and objects ask: from_("axolotl.yaml")."""
    return _ask("from", (), {**options, "from_": [*things]})


def validate(*files: Any, progress: Progress | None = None, **options: Any) -> Answer:
    """What was predicted against what was measured, row by row: validate("runs.csv"). `progress` as of `plan`: rows that
    were not reached are counted as skipped."""
    return _ask("validate", files, options, progress or (lambda _: None))


def dtype(name: str | None = None, **options: Any) -> Answer:
    """The bits of a number format, and what it makes of a value: dtype("bf16", value=3.14)."""
    return _ask("dtype", () if name is None else (name,), options)


def model(name: str | None = None) -> Answer:
    """What is known of a model by name; without one, of all."""
    return _ask("model", ("list",) if name is None else ("show", name), {})


def gpu(name: str | None = None) -> Answer:
    """What is known of an accelerator by name; without one, of all."""
    return _ask("gpu", ("list",) if name is None else ("show", name), {})
