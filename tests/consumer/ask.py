"""python3 ask.py LIBRARY PROGRAM NM: asks a shared library from another language. Its answers are the program's, it reads
what it is handed, ends a search when told to, and shows nothing that is its own."""
import ctypes
import json
import os
import subprocess
import sys

library, program, nm = sys.argv[1:4]
READ = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)


class Outside(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("read", READ), ("progress", PROGRESS)]


llmcalc = ctypes.CDLL(library)
llmcalc.llmcalc_version.restype = ctypes.c_char_p
llmcalc.llmcalc_free.argtypes = [ctypes.c_void_p]


def ask(verb, outside=None, **question):
    answer = ctypes.c_void_p()
    code = llmcalc.llmcalc_ask_with(verb.encode(), json.dumps(question).encode(),
                                    ctypes.byref(outside) if outside else None, ctypes.byref(answer))
    text = ctypes.string_at(answer).decode()
    llmcalc.llmcalc_free(answer)
    return code, text


def typed(verb, question):
    words = [program, verb, "--format", "json", *question.get("names", [])]
    for option, value in question.items():
        if option != "names":
            words += ["--" + option, str(value)]
    run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         env={**os.environ, "XDG_CONFIG_HOME": "/nonexistent"})
    return run.returncode, run.stdout


QUESTIONS = [
    ("fit", {"model": "llama-3-8b", "gpu": "h100-sxm:8", "zero": 3, "micro-batch": 8}),
    ("fit", {"params": "70B", "dtype": "bf16", "gpu": "rtx-4090"}),
    ("fit", {"model": "llama-3-8c"}),
    ("serve", {"model": "llama-3-8b", "engine": "vllm", "gpu": "rtx-4090"}),
    ("plan", {"model": "llama-3.2-1b", "gpu": "h100-sxm:2", "seq": "2k", "global-batch": 8}),
    ("scale", {"params": "7e9"}),
    ("dtype", {"names": ["bf16"], "value": 3.5}),
    ("model", {"names": ["show", "deepseek-v3"]}),
    ("gpu", {"names": ["list", "h100"]}),
    ("from", {"names": ["torchrun --nproc_per_node 8 train.py --per_device_train_batch_size 2"]}),
    ("no-verb", {}),
]
for verb, question in QUESTIONS:
    if verb == "no-verb":
        code, text = ask(verb, **question)
        assert code == 2 and json.loads(text)["kind"] == "error", text
        continue
    assert ask(verb, **question) == typed(verb, question), (verb, question)

config = json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2,
                     "hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 1376, "vocab_size": 32000,
                     "max_position_embeddings": 2048})
kept = ctypes.create_string_buffer(config.encode())
handed = Outside(None, READ(lambda _, path: ctypes.addressof(kept) if path == b"mine.json" else None), PROGRESS())
code, text = ask("fit", handed, config="mine.json", gpu="rtx-4090")
assert code == 0 and json.loads(text)["question"]["layers"]["value"] == "2", text
assert ask("fit", handed, config="other.json", gpu="rtx-4090")[0] == 2

told = []
stopped = Outside(None, READ(), PROGRESS(lambda _, share: told.append(share) or len(told) >= 3))
ask("plan", stopped, model="llama-3-8b", gpu="h100-sxm:64", **{"global-batch": 256})
assert len(told) == 3, told

shown = subprocess.run([nm, "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True).stdout
own = [name for name in ("nlohmann", "4YAML", "N7llmcalc4read", "N7llmcalc3api", "N7llmcalc6search", "N7llmcalc6layers")
       if name in shown]
assert "llmcalc_ask" in shown and not own, own
print(len(QUESTIONS), "questions asked of", llmcalc.llmcalc_version().decode())
