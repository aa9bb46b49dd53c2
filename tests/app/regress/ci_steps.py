#!/usr/bin/env python3
"""ci_steps.py FILE - the commands of a CI template, a line each: "SHELL COMMAND" as the service runs them. Variables of the
template are exports first. Its paths to keep, relative to the repository, are in lines "keep PATH".

    ci_steps.py app/regress/ci/github.yml
"""
import sys

import yaml


def github(document):
    yield from ("bash export %s=%s" % (name, value) for name, value in document["env"].items())
    for job in document["jobs"].values():
        for step in job["steps"]:
            for line in step.get("run", "").splitlines():
                yield "%s %s" % (step.get("shell", "sh"), line)
            if "path" in step.get("with", {}):
                yield "keep " + step["with"]["path"]


def gitlab(document):
    for job in document.values():
        yield from ('bash export %s="%s"' % item for item in job["variables"].items())
        for line in job["before_script"] + job["script"]:
            yield "bash " + line
        for path in [p for cache in job["cache"] for p in cache["paths"]] + job["artifacts"]["paths"]:
            yield "keep " + path
        yield from ("keep " + path for path in job["artifacts"]["reports"].values())


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = yaml.safe_load(file)
    print("\n".join(github(document) if "jobs" in document else gitlab(document)))


main()
