"""The package answers as the program does, and reads what training scripts hold."""
import ast
import json
import os
import pathlib
import subprocess
import threading
import types

import pytest

import llmcalc

PROGRAM = os.environ.get("LLMCALC_PROGRAM", "llmcalc")


def typed(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


QUESTIONS = [
    (lambda: llmcalc.fit("llama-3-8b", gpu="h100-sxm:8", method="lora"), "fit llama-3-8b --gpu h100-sxm:8 --method lora"),
    (lambda: llmcalc.fit(model="llama-3-8b", gpu="rtx-4090", micro_batch=8), "fit --model llama-3-8b --gpu rtx-4090 --micro-batch 8"),
    (lambda: llmcalc.fit(params=1e9, dtype="bf16"), "fit --params 1000000000.0 --dtype bf16"),
    (lambda: llmcalc.serve("llama-3-8b", engine="vllm", gpu="rtx-4090"), "serve llama-3-8b --engine vllm --gpu rtx-4090"),
    (lambda: llmcalc.plan("llama-3.2-1b", gpu="h100-sxm:2", tp=[1, 2], global_batch=8),
     "plan llama-3.2-1b --gpu h100-sxm:2 --tp 1,2 --global-batch 8"),
    (lambda: llmcalc.scale(params="7e9"), "scale --params 7e9"),
    (lambda: llmcalc.dtype("bf16", value=3.5), "dtype bf16 --value 3.5"),
    (lambda: llmcalc.model("deepseek-v3"), "model show deepseek-v3"),
    (lambda: llmcalc.gpu(), "gpu list"),
]


@pytest.mark.parametrize("ask, line", QUESTIONS, ids=[line for _, line in QUESTIONS])
def test_answers_are_the_programs(ask, line):
    answer, program = ask(), typed(*line.split(), "--format", "json")
    assert answer.to_json() == program.stdout
    assert answer.fits == (program.returncode == 0)
    assert answer.to_dict() == json.loads(program.stdout)
    assert answer.show() == typed(*line.split(), "--color", "never").stdout


def test_values_are_attributes():
    answer = llmcalc.fit("llama-3-8b", gpu="h100-sxm:8", method="lora")
    assert answer.verdict == "fits" and answer.fits
    assert answer.memory.ledger[0].bytes == answer["memory"]["ledger"][0]["bytes"] > 0
    assert "needed_bytes" in dir(answer) and "memory" in list(answer)
    with pytest.raises(AttributeError, match="needed_bytes"):
        answer.peak
    assert "FITS" in repr(answer) and "<pre" in answer._repr_html_() and "<svg" in answer._repr_html_()
    assert "<svg" not in llmcalc.dtype("bf16")._repr_html_()


def test_stubs_name_what_answers_have():
    stubs = ast.parse((pathlib.Path(llmcalc.__file__).parent / "_values.pyi").read_text())
    classes = {each.name: each for each in stubs.body if isinstance(each, ast.ClassDef)}
    for answer in (llmcalc.fit("gpt2", gpu="a100-80"), llmcalc.serve("gpt2", gpu="a100-80"), llmcalc.scale(params="7e9"),
                   llmcalc.plan("gpt2", gpu="a100-80"), llmcalc.model("gpt2"), llmcalc.gpu("a100-80"), llmcalc.dtype("bf16")):
        attributes = [line.target.id for line in classes[answer.kind.capitalize()].body if isinstance(line, ast.AnnAssign)]
        assert attributes == list(answer)


def test_a_form_of_bytes_is_refused():
    answer = llmcalc.fit("gpt2", gpu="a100-80")
    with pytest.raises(llmcalc.BadInput, match="snapshot"):
        answer.show("snapshot")


def test_no_answer_is_taken_for_yes():
    with pytest.raises(TypeError, match="fits"):
        bool(llmcalc.fit("llama-3-70b", gpu="rtx-4090"))


def test_mistakes_say_where_and_what_would_be_right():
    with pytest.raises(llmcalc.BadInput, match="llama-3-8b") as caught:
        llmcalc.fit(model="llama-3-8c")
    assert caught.value.place == "--model" and "llama-3-8b" in caught.value.hint
    assert isinstance(caught.value, ValueError)
    with pytest.raises(llmcalc.BadInput, match="--micro-batch"):
        llmcalc.fit("llama-3-8b", micro_bach=2)
    with pytest.raises(TypeError, match="object is no|dict|mapping"):
        llmcalc.fit({"hidden_size": 4096})


def test_files_and_commands_are_read(tmp_path):
    file = tmp_path / "axolotl.yaml"
    file.write_text("base_model: NousResearch/Meta-Llama-3-8B\nadapter: qlora\nlora_r: 32\nmicro_batch_size: 2\nsequence_len: 4096\n")
    assert llmcalc.fit(from_=file, gpu="rtx-4090").question.lora_rank.value == "32"
    assert "--lora-rank 32" in llmcalc.from_(file, gpu="rtx-4090").show()
    rows = tmp_path / "runs.csv"
    rows.write_text("model,gpu,quantity,measured\n")
    with pytest.raises(llmcalc.BadInput):
        llmcalc.validate(tmp_path / "missing.csv")


def test_a_search_is_followed_and_stopped():
    told = []
    whole = llmcalc.plan("llama-3-8b", gpu="h100-sxm:64", global_batch=256, progress=told.append)
    assert told == sorted(told) and 0 <= told[0] and told[-1] < 1
    assert not whole.warnings
    asked = []
    part = llmcalc.plan("llama-3-8b", gpu="h100-sxm:64", global_batch=256,
                        progress=lambda share: asked.append(share) or len(asked) < len(told) // 2)
    assert len(asked) == max(1, len(told) // 2) and "was searched" in part.warnings[0]

    def interrupted(share):
        if share > 0:
            raise KeyboardInterrupt

    ended = llmcalc.plan("llama-3-8b", gpu="h100-sxm:64", global_batch=256, progress=interrupted)
    assert "was searched" in ended.warnings[0]

    def broken(_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        llmcalc.plan("llama-3-8b", gpu="h100-sxm:64", progress=broken)


def test_other_threads_run_meanwhile():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    answers = []
    askers = [threading.Thread(target=lambda: answers.append(llmcalc.fit("llama-3-70b", gpu="rtx-4090").to_json()))
              for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    stop.set()
    thread.join()
    assert len(set(answers)) == 1 and counted[0] > before


class Config:
    """As transformers.PretrainedConfig."""

    model_type = "llama"

    def to_dict(self):
        return {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "vocab_size": 128256,
                "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
                "max_position_embeddings": 131072, "tie_word_embeddings": True}


class TrainingArguments:
    per_device_train_batch_size = 4

    def to_dict(self):
        return {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "gradient_checkpointing": True,
                "bf16": True, "optim": "adamw_torch_fused", "fsdp": [], "deepspeed": None}


class LoraConfig:
    peft_type = "LORA"

    def to_dict(self):
        return {"peft_type": "LORA", "r": 64, "target_modules": {"v_proj", "q_proj"}, "task_type": "CAUSAL_LM"}


class Parameter:
    def __init__(self, count):
        self.count = count

    def numel(self):
        return self.count


class Module:
    """As torch.nn.Module on meta."""

    def __init__(self, config=None):
        if config is not None:
            self.config = config

    def named_parameters(self):
        return [("a", Parameter(10**9)), ("b", Parameter(2 * 10**9))]

    def parameters(self):
        return [parameter for _, parameter in self.named_parameters()]


def test_objects_of_trainers_are_read():
    asked = llmcalc.fit(Config(), TrainingArguments(), LoraConfig(), gpu="rtx-4090").question
    assert (asked.layers.value, asked.micro_batch.value, asked.grad_accum.value, asked.lora_rank.value) == ("16", "4", "2", "64")
    assert asked.lora_targets.value == "q,v" and asked.method.value == "lora" and asked.recompute.value == "full"
    assert "TrainingArguments" in asked.micro_batch.where
    same = llmcalc.fit(model=Module(Config()), from_=[TrainingArguments(), LoraConfig()], gpu="rtx-4090")
    assert same.needed_bytes == llmcalc.fit(Config(), TrainingArguments(), LoraConfig(), gpu="rtx-4090").needed_bytes
    assert llmcalc.fit(Module(), gpu="h100-sxm").model.parameters_total == pytest.approx(3e9, rel=0.01)


def test_an_accelerator_is_read():
    plugin = types.SimpleNamespace(fsdp_version=2, reshard_after_forward=True, cpu_offload=False, activation_checkpointing=True)
    state = types.SimpleNamespace(distributed_type=types.SimpleNamespace(value="FSDP"), mixed_precision="bf16",
                                  num_processes=4, fsdp_plugin=plugin)
    asked = llmcalc.fit(Config(), types.SimpleNamespace(state=state, distributed_type=state.distributed_type), gpu="h100-sxm").question
    assert asked.sharding.value == "fsdp2" and asked.gpus.value == "4" and asked.recompute.value == "full"


class Torch:
    class cuda:
        @staticmethod
        def max_memory_allocated(device):
            return 10 * 2**30 if device == 1 else 0

        @staticmethod
        def max_memory_reserved(device):
            return 12 * 2**30


def test_what_torch_measured_stands_beside():
    answer = llmcalc.fit("llama-3.2-1b", gpu="a100-80")
    compared = llmcalc.compare(answer, 1, torch=Torch)
    assert compared.predicted_allocated == answer.memory.peak_allocated_bytes
    assert compared.allocated_error == pytest.approx(answer.memory.peak_allocated_bytes / (10 * 2**30) - 1)
    assert "10.00 GiB" in str(compared) and "12.00 GiB" in str(compared)
    with pytest.raises(RuntimeError, match="after some steps"):
        llmcalc.compare(answer, torch=Torch)
