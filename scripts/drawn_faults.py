"""Small faults in C++ as text that stands beside what it changes: `(fault(@) ? (b) : (a))`. Drawn from the tree by chance, or
kept in tests/mutants.txt as sed expressions. See scripts/mutate."""

import collections
import dataclasses
import os
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests/mutants.txt"

TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|\#[^\n]*(?:\\\n[^\n]*)*)
      |(?P<text>R"(?P<delimiter>[^(]*)\(.*?\)(?P=delimiter)"|(?:u8|L)?"(?:\\.|[^"\\])*"|(?<![0-9a-zA-Z])'(?:\\.|[^'\\])+')
      |(?P<number>\.?\d(?:'?[0-9a-zA-Z_.]|[eE][+-])*)
      |(?P<name>[A-Za-z_]\w*)
      |(?P<mark><=>|->\*?|::|<<=|>>=|\.\.\.|[-+*/%&|^=!<>]=|&&|\|\||\+\+|--|<<|[-+*/%&|^=!<>~?:;,.(){}\[\]])""",
    re.S | re.X,
)
PRECEDENCE = {"||": 0, "&&": 1, "==": 2, "!=": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
BOUNDARIES = {";", ",", "?", ":", "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "<<", ">>", "return", "co_return", "case"}
OTHER = {
    "<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
}  # fmt: skip
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
OPENED_BY = {close: begin for begin, close in CLOSED_BY.items()}
NOT_RUN = {"static_assert", "template", "using", "enum", "struct", "class", "namespace", "operator", "noexcept"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclasses.dataclass
class Fault:
    path: str
    said: str
    start: int = 0
    end: int = 0
    code: str = ""  # what stands for start..end in the copy
    not_constant: tuple = ()  # beside it: a constant of the compiler's becomes one of the program's, to be switched
    changed: str = ""  # of a kept one, the whole file
    verdict: str = ""

    @property
    def room(self):
        parts = self.path.split("/")
        return parts[1] if parts[0] == "src" or parts[1] in {"dialects", "frameworks"} else "read"


class Source:
    """A file, its tokens, and which bracket belongs to which."""

    def __init__(self, path):
        self.path = path
        self.text = (ROOT / path).read_text()
        found = [f for f in TOKEN.finditer(self.text)]
        self.tokens = [Token(f.lastgroup, f.group(), f.start(), f.end()) for f in found if f.lastgroup != "skip"]
        self.without_comments = self.text
        for comment in (f for f in found if f.group().startswith("//")):
            blank = " " * len(comment.group())
            self.without_comments = self.without_comments[: comment.start()] + blank + self.without_comments[comment.end() :]
        self.partner, begun = {}, []
        for index, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in CLOSED_BY:
                begun.append(index)
            elif token.kind == "mark" and token.text in OPENED_BY and begun:
                self.partner[index] = begun[-1]
                self.partner[begun.pop()] = index

    def is_binary(self, index):
        """clang-format puts blanks around an operator of two operands, and around no bracket, pointer or sign."""
        token = self.tokens[index]
        around = self.text[token.start - 1 : token.start] + self.text[token.end : token.end + 1]
        return token.text in PRECEDENCE and len(around) == 2 and around.isspace()

    def bounds(self, index, weakest):
        token = self.tokens[index]
        return token.text in BOUNDARIES or self.is_binary(index) and PRECEDENCE[token.text] < weakest

    def operand_before(self, index, weakest):
        """The first token of what stands left of `index` and binds at least so strongly."""
        first = index
        while first > 0:
            before = first - 1
            text = self.tokens[before].text
            if text in CLOSED_BY or self.bounds(before, weakest):
                break
            if text == "}" and self.text[self.tokens[before].end] == "\n":
                break
            first = self.partner.get(before, before) if text in OPENED_BY else before
        return first

    def operand_after(self, index, weakest):
        """One past the last token of what stands right of `index`."""
        end = index + 1
        while end < len(self.tokens):
            if self.tokens[end].text in OPENED_BY or self.bounds(end, weakest):
                break
            end = self.partner.get(end, end) + 1 if self.tokens[end].text in CLOSED_BY else end + 1
        return end

    def call_around(self, index):
        """The first token of the call that `index` is an argument of, and one past its last; nothing where it is of none."""
        while self.tokens[index].text != "(":
            before = self.tokens[index - 1]
            ends = before.text == ";" or before.text == "}" and self.text[before.end] == "\n"
            if index == 0 or ends:
                return None
            index = self.partner[index - 1] if before.text in OPENED_BY else index - 1
        return self.operand_before(index, len(PRECEDENCE)), self.partner[index] + 1

    def span(self, first, end):
        return self.without_comments[self.tokens[first].start : self.tokens[end - 1].end]

    def statement(self, index):
        """The first token of the statement that holds `index`."""
        while index > 0 and self.tokens[index - 1].text not in {";", "{", "}"}:
            index -= 1
        return index

    def declaration(self, index):
        """The same, outside of the braces of an initializer and behind no other row of it."""
        first = self.statement(index)
        while first > 1 and (self.tokens[first - 1].text == "{" or self.tokens[first].text == ","):
            begin = self.partner.get(first - 1, first - 1) if self.tokens[first].text == "," else first - 1
            ahead = self.tokens[begin - 1]
            if ahead.text not in {"=", "{", ",", "(", "return"} and ahead.end != self.tokens[begin].start:
                break
            first = self.statement(begin)
        return first

    def is_run(self, index):
        return not {token.text for token in self.tokens[self.statement(index) : index]} & NOT_RUN

    def not_constant(self, index):
        first = self.declaration(index)
        ahead = {token.text for token in self.tokens[first : index + 1]}
        for token in self.tokens[first : min(index, first + 3)]:
            if token.text == "constexpr" and ahead & {"=", "{"}:
                return token.start, token.end, "const"
        return ()

    def fault(self, first, end, code, instead, index):
        line = self.text.count("\n", 0, self.tokens[index].start) + 1
        said = f"{self.path}:{line} {' '.join(self.span(first, end).split())} -> {' '.join(instead.split())}"
        constant = self.not_constant(first)
        code = code.replace("fault(@)", "fault_at_start(@)") if constant else code
        return Fault(self.path, said, self.tokens[first].start, self.tokens[end - 1].end, code, constant)

    def chosen(self, first, end, instead, index):
        """Both ways have the type of what was there, or what stands for it would change without any fault."""
        old = self.span(first, end)
        return self.fault(first, end, f"(fault(@) ? static_cast<decltype({old})>({instead}) : ({old}))", instead, index)


def operators(source):
    for index, token in enumerate(source.tokens):
        if not source.is_binary(index) or not source.is_run(index):
            continue
        strength = PRECEDENCE[token.text]
        first, end = source.operand_before(index, strength), source.operand_after(index, strength + 1)
        if first == index or end == index + 1:
            continue
        left, right = source.span(first, index), source.span(index + 1, end)
        for other in OTHER[token.text]:
            yield "operator", source.chosen(first, end, f"{left} {other} {right}", index)
        if token.text in {"+", "-", "*", "/", "&&", "||"}:
            yield "dropped term", source.chosen(first, end, left, index)


def constants(source):
    for index, token in enumerate(source.tokens):
        if not source.is_run(index) or source.tokens[index - 1].text in {"case", "["}:
            continue
        if token.text in {"true", "false"}:
            yield "constant", source.chosen(index, index + 1, "false" if token.text == "true" else "true", index)
        if token.kind == "number" and re.fullmatch(r"\d[\d']*(\.\d+)?(e\d+)?", token.text):
            value = float(token.text.replace("'", ""))
            is_real = re.search(r"[.e]", token.text)
            moved = f"{token.text} * 1.25" if is_real and value else "1.0" if is_real else str(int(value) + 1)
            yield "constant", source.chosen(index, index + 1, moved, index)


def dropped_statements(source):
    for index in range(1, len(source.tokens)):
        if source.tokens[index - 1].text not in {";", "{", "}", ")"} or source.tokens[index].kind != "name":
            continue
        end = index
        while end < len(source.tokens) and source.tokens[end].text not in {";", "{", "}"}:
            end = source.partner.get(end, end) + 1 if source.tokens[end].text in {"(", "["} else end + 1
        if end >= len(source.tokens) or source.tokens[end].text != ";" or not source.is_run(index):
            continue
        statement = source.span(index, end)
        if re.fullmatch(r"[\w.:\[\]>-]+ [-+*/|&]?= .*|[\w.:]+(->\w+)*\(.*\)", statement, re.S):
            yield "dropped statement", source.fault(index, end + 1, f"{{ if (!fault(@)) {{ {statement}; }} }}", "", index)


def begin_of_call(source, index):
    """The first token of the call whose bracket is at `index`; None for a declaration or a condition."""
    if source.tokens[index].text != "(" or source.tokens[index - 1].kind != "name" or index not in source.partner:
        return None
    begin = index - 1
    while begin > 0 and source.tokens[begin - 1].end == source.tokens[begin].start:
        if source.tokens[begin - 1].text in {*CLOSED_BY, "!", "-", "*", "&"}:
            break
        begin = source.partner.get(begin - 1, begin - 1)
    ahead = source.tokens[begin - 1]
    is_declared = ahead.text in {"&", "*", ">"} or ahead.kind == "name" and ahead.text not in {"return", "else", "throw"}
    is_condition = source.tokens[index - 1].text in {"if", "for", "while", "switch", "return"}
    return None if is_declared or is_condition or not source.is_run(index) else begin


SYMMETRIC = {"min", "max", "gcd", "lcm", "product", "checked_add", "checked_multiply"}


def swapped_arguments(source):
    for index in range(1, len(source.tokens)):
        begin = begin_of_call(source, index)
        if begin is None:
            continue
        comma = source.operand_after(index, -1)
        if source.tokens[comma].text != "," or comma == index + 1:
            continue
        end = source.operand_after(comma, -1)
        left, right = source.span(index + 1, comma), source.span(comma + 1, end)
        last = source.partner[index] + 1
        if left != right and source.tokens[index - 1].text not in SYMMETRIC:
            swapped = f"{source.span(begin, index + 1)}{right}, {left}{source.span(end, last)}"
            yield "swapped arguments", source.chosen(begin, last, swapped, index)


def overlap(one, other):
    return one.path == other.path and one.start < other.end and other.start < one.end


def drawn(count, seed):
    """Each kind in equal shares, none within another."""
    kinds = collections.defaultdict(list)
    for path in sorted(set((ROOT / "src").rglob("*.?pp")) - {ROOT / "src/cli/system_windows.cpp"}):  # not built here
        source = Source(str(path.relative_to(ROOT)))
        for find in (operators, constants, dropped_statements, swapped_arguments):
            for kind, each in find(source):
                kinds[kind].append(each)
    chance = random.Random(seed)
    for faults in kinds.values():
        chance.shuffle(faults)
    taken = []
    while len(taken) < count and any(kinds.values()):
        for faults in kinds.values():
            while faults and len(taken) < count:
                each = faults.pop()
                if not any(overlap(each, other) for other in taken):
                    taken.append(each)
                    break
    return taken


def lists(text):
    """Whether a comma stands in no bracket of it: an argument more or less is no operand, but a comma's."""
    depth = 0
    for mark in (found.group("mark") for found in TOKEN.finditer(text)):
        depth += (mark in CLOSED_BY) - (mark in OPENED_BY)
        if mark == "," and depth == 0:
            return True
    return False


def beside_the_code(source, fault):
    """Puts the change of a file in the smallest expression that holds it; where that is none, in the statement."""
    old, new = source.text, fault.changed
    begin = len(os.path.commonprefix([old, new]))
    tail = len(os.path.commonprefix([old[begin:][::-1], new[begin:][::-1]]))
    first = next(i for i, token in enumerate(source.tokens) if token.end > begin)
    last = next(i for i, token in enumerate(source.tokens) if token.end >= len(old) - tail)
    if ";" in old[begin : len(old) - tail] + new[begin : len(new) - tail]:
        first = source.statement(first)
        while source.tokens[last].text != ";":
            last += 1
        end, shape = last + 1, "{{ if (fault(@)) {{ {new} }} else {{ {old} }} }}"
    else:
        closes = source.tokens[last].text in OPENED_BY and source.partner.get(last, first) < first
        end = last if closes else source.operand_after(last, -1)
        first, shape = source.operand_before(first, -1), "(fault(@) ? ({new}) : ({old}))"
    start, stop = source.tokens[first].start, max(source.tokens[end - 1].end, len(old) - tail)
    was, becomes = old[start:stop], new[start : stop + len(new) - len(old)]
    while "fault(@) ?" in shape and (lists(was) or lists(becomes)):
        call = source.call_around(first)
        if call is None:
            return
        first, end = call
        start, stop = source.tokens[first].start, source.tokens[end - 1].end
        was, becomes = old[start:stop], new[start : stop + len(new) - len(old)]
    if was.strip() and becomes.strip():
        fault.start, fault.end, fault.code = start, stop, shape.format(new=becomes, old=was)
        fault.not_constant = source.not_constant(first)
        if fault.not_constant:
            fault.code = fault.code.replace("fault(@)", "fault_at_start(@)")


def kept(lines):
    """The faults of tests/mutants.txt, or of those lines of it."""
    faults = []
    for number, row in enumerate(KEPT.read_text().splitlines(), 1):
        if not row or row.startswith("#") or lines and number not in lines:
            continue
        path, edit = row.split(" ", 1)
        changed = subprocess.run(["sed", "-E", edit, str(ROOT / path)], check=True, capture_output=True, text=True).stdout
        fault = Fault(path, f"line {number} {row}", changed=changed)
        if changed == (ROOT / path).read_text():
            fault.verdict = "no longer applies"
        elif path.endswith("pp"):
            beside_the_code(Source(path), fault)
        faults.append(fault)
    return faults
