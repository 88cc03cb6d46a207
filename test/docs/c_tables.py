"""Tables in C sources, read as data: initializers with texts, numbers and names in them.

Only what such tables are made of is understood; anything else raises.
"""

import re
from pathlib import Path

TREE = Path(__file__).parents[2]

TOKEN = re.compile(r'\s+|/\*.*?\*/|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>-?[\w.&]+(?:\s*[-+]\s*\w+)*)'
                   r"|(?P<mark>[{}(),=\[\]])", re.DOTALL)


def _tokens(source: str):
    place = 0
    while place < len(source):
        match = TOKEN.match(source, place)
        if not match:
            raise ValueError(f"not understood: {source[place : place + 60]!r}")
        place = match.end()
        if match.lastgroup:
            yield match.lastgroup, match[match.lastgroup]


def _value(tokens: list):
    """One value; takes it from the front. A call such as LIST("a", "b") is the list of its arguments."""
    kind, token = tokens.pop(0)
    if kind == "text":
        parts = [token]
        while tokens and tokens[0][0] == "text":
            parts.append(tokens.pop(0)[1])
        return "".join(part[1:-1] for part in parts).replace('\\"', '"')
    if kind == "word" and tokens and tokens[0][1] == "(":
        return _members(tokens, ")")
    if kind == "word":
        return token
    if token == "{":
        tokens.insert(0, (kind, token))
        return _members(tokens, "}")
    raise ValueError(f"not understood: {token!r}")


def _members(tokens: list, end: str) -> list | dict:
    """Up to the end mark; a dictionary if the members are named."""
    tokens.pop(0)
    values, named = [], {}
    while tokens[0][1] != end:
        if tokens[0][1] == "[":  # [INDEX] = value, in the order of the indexes
            if [token for _, token in tokens[2:4]] != ["]", "="]:
                raise ValueError(f"not understood: {tokens[:4]}")
            del tokens[:4]
        if tokens[0][0] == "word" and tokens[0][1].startswith(".") and tokens[1][1] == "=":
            name = tokens.pop(0)[1][1:]
            tokens.pop(0)
            named[name] = _value(tokens)
        else:
            values.append(_value(tokens))
        if tokens[0][1] == ",":
            tokens.pop(0)
    tokens.pop(0)
    if values and named:
        raise ValueError(f"members with and without names: {values}, {named}")
    return named or values


def initializer(file: str, declaration: str) -> list | dict:
    """What stands after `declaration =` in a file of the tree."""
    source = (TREE / file).read_text()
    found = re.search(rf"{re.escape(declaration)} = (\{{.*?\n?\}});", source, re.DOTALL)
    if not found:
        raise ValueError(f"{file}: no {declaration}")
    return _value(list(_tokens(found[1])))


def initializers(file: str, type_name: str) -> dict[str, dict]:
    """All variables of a type in a file, by name."""
    source = (TREE / file).read_text()
    names = re.findall(rf"^(?:static )?{type_name} (\w+) = \{{", source, re.MULTILINE)
    return {name: initializer(file, f"{type_name} {name}") for name in names}
