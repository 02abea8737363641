"""Pictures have to be in the format that they say. Used by everything-tests.yaml."""

import base64

BEGINNINGS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8"}


def check(context):
    pictures = [block for block in context["response"]["content"] if block["type"] == "image"]
    expect(pictures, "there is no picture")
    for index, picture in enumerate(pictures):
        data = base64.b64decode(picture["data"], validate=True)
        beginning = BEGINNINGS.get(picture["mimeType"])
        if beginning is None:
            log("warning", f"nobody here knows {picture['mimeType']}")
        elif not data.startswith(beginning):
            fail("is in another format", field=f"pictures[{index}]", expected=picture["mimeType"], actual=data[:8].hex())
