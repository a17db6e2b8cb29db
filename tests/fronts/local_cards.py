"""python3 local_cards.py PROGRAM FOLDER: --gpu local with a stand-in of NVML (nvml.cpp) in FOLDER."""
import json
import os
import subprocess
import sys

program, folder = sys.argv[1:3]


def ask(cards, *words, **variables):
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "LLMCALC_CARDS": cards, "XDG_CONFIG_HOME": "/nonexistent", **variables}
    environment.pop("CUDA_VISIBLE_DEVICES", None) if "CUDA_VISIBLE_DEVICES" not in variables else None
    run = subprocess.run([program, *(words or ("fit", "llama-3.2-1b", "--gpu", "local")), "--format", "json"],
                         env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(run.stdout)


def values(answer, *terms):
    return tuple(answer["question"][term]["value"] for term in terms)


RTX = "NVIDIA GeForce RTX 4090|8.9|24564|20000|4242|"
one = ask(RTX)
assert values(one, "gpu", "gpus", "memory") == ("rtx-4090", "1", str(20000 << 20)), one["question"]
assert one["capacity_bytes"] == 20000 << 20
assert any("4242 with 2 GiB" in sentence and "19.53" in sentence for sentence in one["assumptions"]), one["assumptions"]
assert "NVIDIA GeForce RTX 4090" in one["question"]["gpu"]["where"]

# Of several the fullest decides; fewer are the freest; what is said on top stays.
two = RTX + ";NVIDIA GeForce RTX 4090|8.9|24564|23900||"
assert values(ask(two), "gpus", "memory") == ("2", str(20000 << 20))
assert values(ask(two, "fit", "llama-3.2-1b", "--gpu", "local:1"), "gpus", "memory") == ("1", str(23900 << 20))
assert values(ask(two, "fit", "llama-3.2-1b", "--gpu", "local", "--memory", "8GiB"), "memory") == (str(8 << 30),)
assert values(ask(two, CUDA_VISIBLE_DEVICES="1"), "gpus", "memory") == ("1", str(23900 << 20))
assert "local:3" in ask(two, "fit", "llama-3.2-1b", "--gpu", "local:3")["problem"]
served = ask(two, "serve", "llama-3-8b", "--gpu", "local:1")
assert served["kind"] == "serve" and values(served, "gpu") == ("rtx-4090",)

# Slices, sizes under one name, memory that is the processor's.
slices = ask("NVIDIA H100 80GB HBM3 MIG 3g.40gb|9.0|40448|40000||2")
assert values(slices, "gpu", "gpus", "memory") == ("h100-sxm-mig-3g.40gb", "2", str(40000 << 20)), slices["question"]
assert values(ask("NVIDIA GH200 480GB|9.0|147456|146000||"), "gpu") == ("gh200-144",)
shared = ask("NVIDIA GB10|12.1||||")
assert values(shared, "gpu") == ("dgx-spark-gb10",) and shared["question"].get("memory", {}).get("value") is None

# A card that no preset is called.
unknown = ask("NVIDIA GeForce RTX 4095 Ti|8.9|24564|24000||")
assert values(unknown, "gpu", "memory") == ("rtx-4090", str(24000 << 20))
assert any("RTX 4095 Ti" in sentence and "nearest" in sentence for sentence in unknown["assumptions"])
assert "no preset" in ask("NVIDIA Unheard|99.0|24564|24000||")["problem"]

mixed = ask(RTX + ";NVIDIA GeForce RTX 3060|8.6|12288|12000||")
assert "not alike" in mixed["problem"] and "local:1" in mixed["hint"]
assert "Driver Not Loaded" in ask("broken")["problem"] and ask("broken")["place"] == "--gpu"
print("machines with and without cards asked")
