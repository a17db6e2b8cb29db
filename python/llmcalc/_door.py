"""The library beside this file: strings in, JSON out. ctypes lets other threads run while it answers."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
from typing import Any, Callable, Mapping, Optional

#: Told which share of a search is done; ``False`` ends it with what was found so far.
Progress = Callable[[float], Optional[bool]]

_Read = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_Progress = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)


class _Outside(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("read", _Read), ("progress", _Progress)]


def _load() -> ctypes.CDLL:
    folder = pathlib.Path(__file__).resolve().parent
    found = sorted(path for path in folder.glob("_llmcalc*") if path.suffix in (".so", ".dylib", ".dll"))
    if not found:
        raise ImportError(f"no library of llmcalc in {folder}: install the package with pip, or build it with CMake")
    library = ctypes.CDLL(os.fspath(found[0]))
    library.llmcalc_version.restype = ctypes.c_char_p
    library.llmcalc_free.argtypes = [ctypes.c_void_p]
    library.llmcalc_ask_here.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Outside),
                                         ctypes.POINTER(ctypes.c_void_p)]
    return library


_library = _load()
version: str = _library.llmcalc_version().decode()


class _Watched:
    """A search that somebody follows. What the follower raises, Ctrl-C among it, ends the search; what it raises
    otherwise goes on from where the question was asked."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.raised: BaseException | None = None

    def __call__(self, _data: int, share: float) -> int:
        try:
            return int(self.progress is not None and self.progress(share) is False)
        except KeyboardInterrupt:
            return 1
        except BaseException as error:  # it must not cross the library
            self.raised = error
            return 1


def ask(verb: str, question: Mapping[str, Any], texts: Mapping[str, str],
        progress: Progress | None) -> tuple[int, str]:
    """The exit code and the text of an answer. `texts` are read in the place of files of those names."""
    kept = {name.encode(): ctypes.create_string_buffer(text.encode()) for name, text in texts.items()}
    read = _Read(lambda _, path: ctypes.addressof(kept[path]) if path in kept else None)
    watched = _Watched(progress)
    outside = _Outside(None, read, _Progress(watched))
    answer = ctypes.c_void_p()
    code = _library.llmcalc_ask_here(verb.encode(), json.dumps(question).encode(), ctypes.byref(outside),
                                     ctypes.byref(answer))
    if not answer:
        raise MemoryError
    try:
        text = ctypes.string_at(answer.value or 0).decode()
    finally:
        _library.llmcalc_free(answer)
    if watched.raised is not None:
        raise watched.raised
    return code, text
