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
from typing import TYPE_CHECKING, Any, Mapping

from . import _door, _question
from ._answer import Answer, BadInput, Values
from ._compare import Comparison, compare
from ._door import Progress

if TYPE_CHECKING:  # known to type checkers alone (scripts/update-stubs)
    from typing_extensions import Unpack

    from . import _values

__all__ = ["Answer", "BadInput", "Comparison", "Progress", "Values", "compare", "dtype", "fit", "from_", "gpu", "model",
           "plan", "scale", "serve", "validate"]
__version__ = _door.version


def _ask(verb: str, things: tuple[Any, ...], options: Mapping[str, Any], progress: Progress | None = None) -> Any:
    question = _question.read(things, options)
    words = question.as_json()
    code, text = _door.ask(verb, words, question.texts, progress)
    _refuse(text)
    return Answer(code, text, lambda form: _shown(verb, {**words, "format": form}, question.texts))


def _shown(verb: str, words: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    code, text = _door.ask(verb, words, texts, None)
    if code == 2:
        _refuse(text)
    return text


def _refuse(text: str) -> None:
    """Raises what an answer says that is an error."""
    values = json.loads(text)
    if values["kind"] == "error":
        raise BadInput(values["place"], values["problem"], values["hint"])


def fit(*things: Any, progress: Progress | None = None, **options: Unpack[_values.FitOptions]) -> _values.Fit:
    """Whether a run fits, where it peaks, how long it takes and what it costs.

    fit("llama-3-8b", gpu="h100-sxm:8", zero=3, seq="8k"); fit(model.config, training_arguments, gpu="a100-80").
    Raises BadInput where the question cannot be answered.
    """
    return _ask("fit", things, options, progress)


def serve(*things: Any, progress: Progress | None = None, **options: Unpack[_values.ServeOptions]) -> _values.Serve:
    """Whether a server starts, how long a context and how many requests it takes, and how fast it is.

    serve("llama-3-8b", engine="vllm", quant="awq", gpu="rtx-4090", context="8k")
    """
    return _ask("serve", things, options, progress)


def plan(*things: Any, progress: Progress | None = None, **options: Unpack[_values.PlanOptions]) -> _values.Plan:
    """The best layouts of a run: plan("llama-3-8b", gpu="h100-sxm:8", seq="8k", global_batch=64).

    `progress` is called with the share that is done; False from it, or Ctrl-C, ends the search with what was found so
    far.
    """
    return _ask("plan", things, options, progress or (lambda _: None))


def scale(**options: Unpack[_values.ScaleOptions]) -> _values.Scale:
    """Parameters, tokens, compute, cost and loss of a run from each other: scale(params="7e9")."""
    return _ask("scale", (), options)


def from_(*things: Any, **options: Unpack[_values.FromOptions]) -> _values.From:
    """The question that files, commands and objects ask: from_("axolotl.yaml")."""
    return _ask("from", (), {**options, "from_": [*things]})


def validate(*files: Any, progress: Progress | None = None,
             **options: Unpack[_values.ValidateOptions]) -> _values.Validate:
    """What was predicted against what was measured, row by row: validate("runs.csv"). `progress` as of `plan`: rows that
    were not reached are counted as skipped."""
    return _ask("validate", files, options, progress or (lambda _: None))


def dtype(name: str | None = None, **options: Unpack[_values.DtypeOptions]) -> _values.Dtype:
    """The bits of a number format, and what it makes of a value: dtype("bf16", value=3.14)."""
    return _ask("dtype", () if name is None else (name,), options)


def model(name: str | None = None) -> Answer:
    """What is known of a model by name; without one, of all."""
    return _ask("model", ("list",) if name is None else ("show", name), {})


def gpu(name: str | None = None) -> Answer:
    """What is known of an accelerator by name; without one, of all."""
    return _ask("gpu", ("list",) if name is None else ("show", name), {})
