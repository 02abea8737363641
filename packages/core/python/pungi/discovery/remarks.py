"""Remarks about a script, besides its tools."""


def remark(line, name, reason, is_skipped=False):
    sentence = reason if reason.endswith(".") else f"{reason}."
    return {"line": line, "name": name[:300], "reason": sentence[:2000], "isSkipped": is_skipped}
