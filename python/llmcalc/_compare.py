"""What torch measured beside what was predicted."""
from __future__ import annotations

import dataclasses
import sys
from typing import Any

from ._answer import Answer


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Peaks of torch's allocator in bytes. The errors are shares of what was measured, above 0 where more was predicted."""

    measured_allocated: int
    predicted_allocated: int
    measured_reserved: int
    predicted_reserved: int

    @property
    def allocated_error(self) -> float:
        return self.predicted_allocated / self.measured_allocated - 1

    @property
    def reserved_error(self) -> float:
        return self.predicted_reserved / self.measured_reserved - 1

    def __str__(self) -> str:
        lines = ["            measured   predicted  error"]
        for name in ("allocated", "reserved"):
            measured, predicted = getattr(self, "measured_" + name), getattr(self, "predicted_" + name)
            error = getattr(self, name + "_error")
            lines.append(f"{name:9} {measured / 2**30:6.2f} GiB  {predicted / 2**30:6.2f} GiB {error:+6.1%}")
        return "\n".join(lines)


def compare(answer: Answer, device: Any = None, *, torch: Any = None) -> Comparison:
    """The peaks since torch.cuda.reset_peak_memory_stats() of one rank, beside those of an answer of `fit`.

    `device` is the rank's, the current one unless given; `torch` the module, imported already unless given.
    """
    torch = torch or sys.modules.get("torch")
    if torch is None:
        raise RuntimeError("torch is not imported here: nothing was measured")
    measured = torch.cuda.max_memory_allocated(device)
    if not measured:
        raise RuntimeError("torch allocated nothing on this device yet: compare after some steps")
    return Comparison(measured, answer.memory.peak_allocated_bytes, torch.cuda.max_memory_reserved(device),
                      answer.memory.peak_reserved_bytes)
