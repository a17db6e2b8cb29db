"""What a question is answered with."""
from __future__ import annotations

import html
import json
from typing import Any, Callable, Iterator


class BadInput(ValueError):
    """A question that cannot be answered: where it is wrong, why, and what would be right."""

    def __init__(self, place: str, problem: str, hint: str | None) -> None:
        self.place, self.problem, self.hint = place, problem, hint
        super().__init__(f"{place}: {problem}" + (f" ({hint})" if hint else "") if place else problem)


class Values:
    """Named values of an answer, as attributes: those of the JSON (docs/json.md)."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"no {name!r} here; there are: {', '.join(self._values)}")
        return _wrapped(self._values[name])

    def __getitem__(self, name: str) -> Any:
        return _wrapped(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self._values == other._values

    def to_dict(self) -> dict[str, Any]:
        """The values as plain dictionaries, lists, texts and numbers."""
        return json.loads(json.dumps(self._values))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in list(self._values.items())[:6])})"


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Values(value)
    return [_wrapped(each) for each in value] if isinstance(value, list) else value


class Answer(Values):
    """What the command line answers: the values of its JSON as attributes, and as a person reads them."""

    def __init__(self, code: int, text: str, show: Callable[[str], str]) -> None:
        super().__init__(json.loads(text))
        self._code, self._json, self._show = code, text, show

    @property
    def fits(self) -> bool:
        """Whether it fits by the likely figure, and of a search whether anything does: exit code 0 on the command line."""
        return self._code == 0

    def __bool__(self) -> bool:
        raise TypeError("an answer is neither true nor false: ask its .fits")

    def to_json(self) -> str:
        """What `--format json` prints, byte for byte."""
        return self._json

    def show(self, form: str = "text") -> str:
        """The answer in another form of the command line: "text", and where the verb has them "csv", "markdown" and
        others."""
        return self._show(form)

    def __str__(self) -> str:
        return self.show()

    def __repr__(self) -> str:
        return f"<llmcalc {self.kind}: {self.show().splitlines()[0]}>"

    def _repr_html_(self) -> str:
        picture = self.show("svg") if self.kind == "fit" else ""
        return f'{picture}<pre style="line-height:1.25">{html.escape(self.show())}</pre>'
