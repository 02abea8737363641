"""The "# /// script" block of a script (PEP 723): what it needs, in its own words."""

import re

_OPENING = re.compile(r"# /// ([a-zA-Z0-9-]+)")
_CLOSING = "# ///"
_COMMENT = re.compile(r"#[^\n]*")
_STRING = re.compile(r'"(?P<basic>(?:[^"\\\n]|\\.)*)"|\'(?P<literal>[^\'\n]*)\'')
_BRACKET_OR_TEXT = re.compile(r"\[|\]|#[^\n]*|" + _STRING.pattern)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_KEY = r"^[ \t]*(?:{0}|\"{0}\"|'{0}')[ \t]*=[ \t]*"


def read(source):
    """(dependencies, requires-python or None, remarks). There is no reader of TOML in every Python that is supported, so this
    reads the two keys that matter, and says where it cannot."""
    found = _blocks(source.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    if not found:
        return [], None, []
    line, content = found[0]
    if len(found) > 1:
        return [], None, [_remark(line, f"There is another such block at line {found[1][0]}, so neither of them counts.")]
    return _read_content(content, line)


def _blocks(lines):
    """(line, content) of each. As the regular expression of PEP 723 finds them, but each line is read once."""
    blocks, at = [], 0
    while at < len(lines):
        opened = _OPENING.fullmatch(lines[at])
        first = at = at + 1
        if not opened:
            continue
        while at < len(lines) and (lines[at] == "#" or lines[at].startswith("# ")):
            at += 1
        comments = lines[first:at]
        closing = max((index for index, line in enumerate(comments) if line == _CLOSING), default=0)
        if closing > 0 and opened[1] == "script":
            blocks.append((first, "\n".join(line[2:] for line in comments[:closing])))
    return blocks


def _read_content(content, line):
    dependencies, requires, remarks = [], None, []
    head = content[: match.start()] if (match := _first_table(content)) else content
    if match := re.search(_KEY.format("dependencies"), head, re.MULTILINE):
        dependencies = _read_list(head, match.end())
        if dependencies is None:
            remarks.append(_remark(line, 'Its "dependencies" cannot be read: they must be a list of texts.'))
            dependencies = []
    if match := re.search(_KEY.format("requires-python"), head, re.MULTILINE):
        text = _STRING.match(head, match.end())
        if text:
            requires = _content_of(text)
        else:
            remarks.append(_remark(line, 'Its "requires-python" cannot be read: it must be a text.'))
    return dependencies, requires, remarks


def _first_table(content):
    """The first "[table]", which is not a line of a list that goes over several."""
    depth = 0
    for match in _BRACKET_OR_TEXT.finditer(content):
        if match[0] == "[":
            if depth == 0 and _TABLE.match(content, content.rfind("\n", 0, match.start()) + 1, match.end()):
                return match
            depth += 1
        elif match[0] == "]":
            depth -= 1
    return None


def _read_list(text, position):
    if text[position : position + 1] != "[":
        return None
    items, position, wants_item = [], position + 1, True
    while position < len(text):
        if text[position].isspace():
            position += 1
        elif comment := _COMMENT.match(text, position):
            position = comment.end()
        elif text[position] == "]":
            return items
        elif text[position] == "," and not wants_item:
            position, wants_item = position + 1, True
        elif wants_item and (item := _STRING.match(text, position)):
            items.append(_content_of(item))
            position, wants_item = item.end(), False
        else:
            return None
    return None


def _content_of(match):
    if match["literal"] is not None:
        return match["literal"]
    return _ESCAPE.sub(_unescape, match["basic"])


def _unescape(match):
    code = match[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return _ESCAPES.get(code, match[0])


def _remark(line, reason):
    return {"line": line, "name": "# /// script", "reason": reason, "isSkipped": False}
