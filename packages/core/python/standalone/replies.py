"""Formats an outcome for clients: as a result of MCP, and as one of the plain methods."""

import json

from .json_rpc import encode_message

# Official clients close the connection over a message of more than 10 MiB.
_LARGEST_REPLY = 9 * 1024 * 1024
_CUT_TEXT = 100_000


def mcp_result(tool, outcome, settings):
    """content, structuredContent and isError of a call."""
    make = _function_result if tool["kind"] == "function" else _script_result
    result = make(tool, outcome, settings)
    return result if _fits(result) else _fitted(result)


def plain_result(tool, outcome, settings):
    """The answer of CallTool: everything by its name."""
    found = {"ok": _is_success(tool, outcome), "tool": tool["name"], "outcome": outcome["kind"]}
    value = outcome.get("value") or {}
    if tool["kind"] == "function" and outcome["kind"] == "finished":
        found["value"] = value.get("json")
        found.update({name: value[name] for name in ("type", "repr", "note", "content") if name in value})
    for name in ("stdout", "stderr", "exitCode", "exception", "issues", "seconds"):
        if name in outcome and not (name == "exitCode" and tool["kind"] == "function"):
            found[name] = outcome[name]
    if tool["kind"] == "script" and (parsed := _parsed_output(outcome)) is not None:
        found["json"] = parsed
    if reason := _reason(tool, outcome, settings):
        found["message"] = reason
    if outcome.get("linesLeftOut"):
        found["linesLeftOut"] = outcome["linesLeftOut"]
    if not _fits(found):
        found.update(stdout=found["stdout"][:_CUT_TEXT], stderr=found["stderr"][:_CUT_TEXT], note=_TOO_LARGE)
        if not _fits(found):
            found.update(value=None, content=[], json=None)
    return found


_TOO_LARGE = "The result is too large for one message; parts of it were left out."


def invalid_outcome(issues):
    return {"kind": "invalid", "issues": issues, "stdout": "", "stderr": ""}


def _function_result(tool, outcome, settings):
    if outcome["kind"] != "finished":
        return _error_result(tool, outcome, settings)
    value = outcome["value"] or {}
    content = [*_value_blocks(value), *_printed_blocks(outcome, settings)]
    result = {"content": content or [_text_block(value.get("repr") or "None")]}
    if "json" not in value:
        return _without_promised(tool, result, "what the function returned is not JSON")
    if outcome.get("unfit"):
        # A client refuses a result that does not match its schema, and then shows none of it.
        return _without_promised(tool, result, "; ".join(outcome["unfit"]))
    structured = {"result": value["json"]} if tool["wrapsResult"] else value["json"]
    return {**result, "structuredContent": structured} if isinstance(structured, dict) else result


def _without_promised(tool, result, why):
    if not tool.get("outputSchema"):
        return result
    text = f"The function returned something else than its annotation promises: {why}"
    return {"content": [_text_block(text), *result["content"]], "isError": True}


def _script_result(tool, outcome, settings):
    if outcome["kind"] not in ("finished", "failed"):
        return _error_result(tool, outcome, settings)
    structured = {name: outcome[name] for name in ("exitCode", "stdout", "stderr")}
    if (parsed := _parsed_output(outcome)) is not None:
        structured["json"] = parsed
    content = [_text_block(outcome["stdout"])] if outcome["stdout"] else []
    if outcome["stderr"]:
        content.append(_text_block(f"stderr:\n{outcome['stderr']}"))
    content += _left_out_blocks(outcome, settings)
    result = {"content": content, "structuredContent": structured}
    if outcome["exitCode"] != 0:
        result["content"].insert(0, _text_block(_reason(tool, outcome, settings)))
        result["isError"] = True
    elif not content:
        result["content"].append(_text_block("The script ended with exit status 0 and printed nothing."))
    return result


def _error_result(tool, outcome, settings):
    blocks = [_text_block(_reason(tool, outcome, settings)), *_printed_blocks(outcome, settings)]
    return {"content": blocks, "isError": True}


def _reason(tool, outcome, settings):
    """Why a call failed; None if it succeeded."""
    kind = outcome["kind"]
    if kind == "invalid":
        return "Invalid arguments:\n" + "\n".join(f"- {issue}" for issue in outcome["issues"])
    if kind == "timed-out":
        return f"The call was ended after {settings.max_execution_time:g} seconds (WRAPPER_MAX_EXECUTION_TIME)."
    if kind == "left":
        return f"The function ended the program with exit status {outcome['exitCode']} and returned nothing."
    if kind == "failed":
        return _failure_words(outcome["exception"], settings)
    if kind == "broke-off":
        return _broke_off_words(outcome["exitCode"], settings)
    if tool["kind"] == "script" and outcome["exitCode"] != 0:
        return f"The script ended with exit status {outcome['exitCode']}."
    return None


def _failure_words(exception, settings):
    words = [f"{exception['type']}: {exception['message']}" if exception["message"] else exception["type"]]
    if exception["line"] is not None:
        text = f": {exception['text']}" if exception["text"] else ""
        words.append(f"in line {exception['line']}{text}")
    if exception.get("missingModule"):
        words.append(f"The Python that runs the script has no module {exception['missingModule']!r}: install it there.")
    if exception.get("isMemoryError"):
        words.append(f"A call may use {settings.max_memory_mb} MiB (WRAPPER_MAX_MEMORY_MB).")
    return "\n".join([*words, "", exception["traceback"].rstrip()])


def _broke_off_words(status, settings):
    if status < 0:
        import signal

        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        memory = f" A call may use {settings.max_memory_mb} MiB of memory (WRAPPER_MAX_MEMORY_MB)."
        return f"The script's process was ended by {name} before it was done.{memory}"
    return f"The script's process ended itself with exit status {status} before it was done."


def _value_blocks(value):
    blocks = []
    if "json" in value and value["json"] is not None:
        found = value["json"]
        blocks.append(_text_block(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)))
    elif "json" not in value and not value.get("content") and value.get("repr"):
        blocks.append(_text_block(value["repr"]))
    blocks += [_content_block(each, number) for number, each in enumerate(value.get("content") or (), 1)]
    if value.get("note"):
        blocks.append(_text_block(f"Note: {value['note']}"))
    return blocks


def _content_block(content, number):
    if content["kind"] in ("image", "audio"):
        return {"type": content["kind"], "data": content["base64"], "mimeType": content["mimeType"]}
    resource = {"uri": f"wrapper://result/{number}", "mimeType": content["mimeType"], "blob": content["base64"]}
    return {"type": "resource", "resource": resource}


def _printed_blocks(outcome, settings):
    printed = [f"{name}:\n{outcome[name]}" for name in ("stdout", "stderr") if outcome[name]]
    return [_text_block(text) for text in printed] + _left_out_blocks(outcome, settings)


def _left_out_blocks(outcome, settings):
    if not outcome.get("linesLeftOut"):
        return []
    reason = f"WRAPPER_MAX_OUTPUT_LINES is {settings.max_output_lines}"
    return [_text_block(f"More was printed than is kept ({reason}): {outcome['linesLeftOut']} lines were left out.")]


def _parsed_output(outcome):
    """The output of the script, if it is JSON: an object or a list."""
    text = outcome["stdout"].strip()
    if outcome.get("linesLeftOut") or text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(text):
    raise ValueError(text)


def _is_success(tool, outcome):
    return outcome["kind"] == "finished" and (tool["kind"] == "function" or outcome["exitCode"] == 0)


def _text_block(text):
    return {"type": "text", "text": text}


def _fits(result):
    return len(encode_message(result)) <= _LARGEST_REPLY


def _fitted(result):
    """Cuts long texts first, then drops everything but the first text."""
    content = [
        _text_block(block["text"][:_CUT_TEXT]) if block["type"] == "text" else block for block in result["content"]
    ]
    smaller = {**result, "content": [*content, _text_block(_TOO_LARGE)]}
    if _fits(smaller):
        return smaller
    texts = [block for block in content if block["type"] == "text"][:1]
    return {"content": [_text_block(_TOO_LARGE), *texts], "isError": True}
