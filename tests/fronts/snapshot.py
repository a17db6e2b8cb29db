#!/usr/bin/env python3
"""tests/fronts/snapshot.py PROGRAM: `fit --format snapshot` is what PyTorch's tools read (torch/cuda/_memory_viz.py,
torch/utils/viz/MemoryViz.js), and its step is that of the JSON. Python's own pickle reads it."""
import json
import pickle
import pickletools
import subprocess
import sys

program = sys.argv[1]
QUESTIONS = [f"fit {model} --method {method} --gpu {gpu}"
             for model in ("llama-3-8b", "gpt2", "mixtral-8x7b --seq 512")
             for method in ("full", "lora", "qlora")
             for gpu in ("a100-80", "h100-sxm:8 --zero 3")]
# What MemoryViz.js knows: its unpickle() refuses every other operation.
KNOWN = {"PROTO", "APPENDS", "SETITEMS", "MARK", "EMPTY_LIST", "EMPTY_DICT", "BINUNICODE", "LONG1", "STOP"}


def asked(question: str, form: str) -> bytes:
    return subprocess.run([program, *question.split(), "--format", form], capture_output=True).stdout


def replayed(trace: list) -> list:
    """The highest sum of what is alive at each place of the step, by replaying its events."""
    alive, highest = {}, {}
    for event in trace[1:]:
        if event["action"] == "alloc":
            assert all(event["addr"] >= at + size or event["addr"] + event["size"] <= at for at, size in alive.items())
            alive[event["addr"]] = event["size"]
        elif event["action"] == "free_completed":
            assert alive.pop(event["addr"]) == event["size"]
        highest[event["time_us"]] = max(highest.get(event["time_us"], 0), sum(alive.values()))
    return [highest, alive]


for question in QUESTIONS:
    text = asked(question, "snapshot")
    assert {code.name for code, _, _ in pickletools.genops(text)} <= KNOWN, question
    snapshot = pickle.loads(text)
    memory = json.loads(asked(question, "json"))["memory"]
    [trace], [segment] = snapshot["device_traces"], snapshot["segments"]
    assert trace[0]["action"] == "segment_alloc" and trace[0]["size"] == segment["total_size"]
    highest, alive = replayed(trace)
    assert max(highest.values()) == max(point["allocated_bytes"] for point in memory["timeline"]), question
    assert segment["total_size"] >= memory["peak_reserved_bytes"]
    # Blocks fill their segment, and those in use are what is alive at the end.
    assert sum(block["size"] for block in segment["blocks"]) == segment["total_size"]
    at = segment["address"]
    for block in segment["blocks"]:
        assert block["address"] == at
        at += block["size"]
    used = {block["address"]: block["size"] for block in segment["blocks"] if block["state"] == "active_allocated"}
    assert used == alive and sum(used.values()) == memory["timeline"][-1]["allocated_bytes"] == segment["active_size"]
    # The times of the events are those at which the places of the step begin.
    begun, starts = 0.0, set()
    for point in memory["timeline"]:
        starts.add(int(begun * 1e6))
        begun += point["seconds"] or 0
    assert all(min(abs(time - start) for start in starts) <= 1 for time in highest), question

refused = subprocess.run([program, *"fit --params 1e9 --gpu a100-80 --activations rule-of-thumb --format snapshot".split()],
                         capture_output=True, text=True)
assert refused.returncode == 2 and "snapshot" in refused.stderr and not refused.stdout, refused
