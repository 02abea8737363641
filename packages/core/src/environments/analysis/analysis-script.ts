/**
 * Runs in the sandbox, in the environment that has ruff: the code is on its standard input and never runs. `context`
 * contains the rules, their meaning, and the limits of the output.
 */
export const ANALYSIS_SCRIPT = `
import functools, json, os, subprocess, sys

with open("code.py", "wb") as file:
    file.write(sys.stdin.buffer.read())


def start(*options):
    ruff = [os.path.join(sys.prefix, "bin", "ruff"), "check", "--isolated", "--no-cache", "--exit-zero", "--ignore-noqa"]
    rules = ["--select", ",".join(context["select"]), "--ignore", ",".join(context["ignore"])]
    if context["target"]:
        rules += ["--target-version", context["target"]]
    # One thread: there is one file, and processes are counted here.
    variables = {"RAYON_NUM_THREADS": "1", "NO_COLOR": "1"}
    with open("code.py", "rb") as code, open("problem", "wb") as problem:
        return subprocess.Popen(
            [*ruff, "--output-format=json-lines", *options, *rules, "-"],
            stdin=code, stdout=subprocess.PIPE, stderr=problem, env=variables,
        )


@functools.cache
def meaning(rule):
    return next(rest for prefix, *rest in context["meanings"] if rule.startswith(prefix))


def describe(rule, found):
    url = found["url"]
    category, severity = meaning(rule)
    return {
        "line": found["location"]["row"],
        "column": found["location"]["column"],
        "endLine": found["end_location"]["row"],
        "endColumn": found["end_location"]["column"],
        "rule": rule,
        "name": found.get("name") or (url or rule).rpartition("/")[2],
        "message": found["message"][:1000],
        "severity": severity,
        "category": category,
        "url": url,
        "fix": (found["fix"] or {}).get("message"),
    }


def collect(process):
    """In the order of the code, as ruff tells them. Beyond what can be listed they are only counted."""
    listed, room, is_full = [], context["maxBytes"] - 600, False
    categories, severities = (dict.fromkeys(context[kinds], 0) for kinds in ("categories", "severities"))
    for line in process.stdout:
        found = json.loads(line)
        rule = found["code"] or found.get("name") or "invalid-syntax"
        category, severity = meaning(rule)
        categories[category] += 1
        severities[severity] += 1
        if not is_full:
            finding = describe(rule, found)
            room -= len(json.dumps(finding)) + 2
            is_full = room < 0 or len(listed) == context["maxFindings"]
            if not is_full:
                listed.append(finding)
    listed.sort(key=lambda one: (one["line"], one["column"]))
    total = sum(severities.values())
    summary = {"total": total, "omitted": total - len(listed), "bySeverity": severities, "byCategory": categories}
    return {"findings": listed, "summary": summary}


# This Python may be newer than any that this ruff has heard of: then it is asked without.
for options in ["--target-version", "py%d%d" % sys.version_info[:2]], []:
    process = start(*options)
    report = collect(process)
    if process.wait() == 0:
        print(json.dumps(report))
        break
else:
    with open("problem", encoding="utf-8", errors="replace") as problem:
        sys.exit("ruff: " + " ".join(problem.read()[-2000:].split()))
`;
