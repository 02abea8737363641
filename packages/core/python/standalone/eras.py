"""The differences between revisions of MCP. Those up to 2025-11-25 begin with `initialize`; since 2026-07-28 every request
names its revision."""

from .json_rpc import INVALID_PARAMS, RpcError

# The newest first: it is offered to a client whose own is unknown.
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN_VERSION = "2026-07-28"
# The only revision that has batches.
BATCH_VERSION = "2025-03-26"
UNSUPPORTED_VERSION = -32022

_META = "io.modelcontextprotocol/"
_VERSION_KEY = f"{_META}protocolVersion"
_SERVER_KEY = f"{_META}serverInfo"
_SUBSCRIPTION_KEY = f"{_META}subscriptionId"
_TITLES_SINCE = "2025-06-18"
_ANNOTATIONS_SINCE = "2025-03-26"


def claimed_version(method, params):
    """The modern revision that a request claims; None for one of the older era. Raises for a wrong claim."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or _VERSION_KEY not in meta:
        return None
    fault = _envelope_fault(meta)
    if fault and method == "initialize":
        return None  # the handshake of the older era, whatever else it carries
    if fault:
        key, problem = fault
        raise RpcError(
            INVALID_PARAMS,
            f"Invalid _meta envelope for protocol revision {MODERN_VERSION}: {key}: {problem}",
            {"envelope": {"key": key, "problem": problem}},
        )
    if meta[_VERSION_KEY] != MODERN_VERSION:
        requested = meta[_VERSION_KEY][:100]
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"Unsupported protocol version: {requested}",
            {"supported": [MODERN_VERSION], "requested": requested},
        )
    return MODERN_VERSION


def _envelope_fault(meta):
    if not isinstance(meta[_VERSION_KEY], str):
        return _VERSION_KEY, "must be a text"
    capabilities = f"{_META}clientCapabilities"
    if capabilities not in meta:
        return capabilities, "missing"
    if not isinstance(meta[capabilities], dict):
        return capabilities, "must be an object"
    client = meta.get(f"{_META}clientInfo", {"name": "", "version": ""})
    if not isinstance(client, dict) or not all(isinstance(client.get(each), str) for each in ("name", "version")):
        return f"{_META}clientInfo", "must be an object with a name and a version"
    return None


def initialize(params, server):
    requested = params.get("protocolVersion")
    if not isinstance(requested, str):
        raise RpcError(INVALID_PARAMS, 'Invalid params: "protocolVersion" must be a text')
    version = requested if requested in LEGACY_VERSIONS else LEGACY_VERSIONS[0]
    result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server.identity}
    return _with_instructions(result, server)


def discover(server):
    result = {"supportedVersions": [MODERN_VERSION], "capabilities": {"tools": {}}}
    return _with_instructions(_cacheable(result), server)


def listed_tools(tools, version):
    result = {"tools": [_tool_for_client(tool, version) for tool in tools]}
    return _cacheable(result) if version == MODERN_VERSION else result


def _with_instructions(result, server):
    return {**result, "instructions": server.instructions} if server.instructions else result


def _cacheable(result):
    """The tools never change while the wrapper runs, but another folder may be at the same place a minute later."""
    return {**result, "ttlMs": 60_000, "cacheScope": "private"}


def _tool_for_client(tool, version):
    found = {"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]}
    if version >= _TITLES_SINCE and tool.get("title"):
        found["title"] = tool["title"]
    if version >= _TITLES_SINCE and tool.get("outputSchema"):
        found["outputSchema"] = tool["outputSchema"]
    if version >= _ANNOTATIONS_SINCE and tool.get("annotations"):
        found["annotations"] = tool["annotations"]
    return found


def result_for_client(result, version, identity):
    """Shapes a result as its revision requires."""
    if version == MODERN_VERSION:
        return {**result, "resultType": "complete", "_meta": {**result.get("_meta", {}), _SERVER_KEY: identity}}
    if version < _TITLES_SINCE and "structuredContent" in result:
        return {name: value for name, value in result.items() if name != "structuredContent"}
    return result


def progress(token, count, line, version):
    params = {"progressToken": token, "progress": count}
    return {**params, "message": line} if version >= _ANNOTATIONS_SINCE else params


def acknowledge_listening(request_id):
    """The offer never changes, so a subscription never sends anything."""
    return {"notifications": {}, "_meta": {_SUBSCRIPTION_KEY: request_id}}


def end_listening(request_id):
    return {"_meta": {_SUBSCRIPTION_KEY: request_id}}
