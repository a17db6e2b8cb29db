"""The page and the README say what runs."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = [(page, block) for page in ("README.md", "docs/python.md")
          for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)]


@pytest.mark.parametrize("page", sorted({page for page, _ in BLOCKS}))
def test_examples_run(page, capsys):
    names = {}
    for block in [block for where, block in BLOCKS if where == page]:
        exec(block, names)
    assert "answer" in names and capsys.readouterr().out
