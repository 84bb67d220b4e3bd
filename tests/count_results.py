#!/usr/bin/env python3
"""Sums test results: GoogleTest's JSON and JUnit's XML (ctest, pytest). Prints "passed failed skipped".

A file that is missing or cut short stands for a program that crashed: it counts as one failure.
"""

import json
import sys
import xml.etree.ElementTree


def count_gtest(path):
    passed = failed = skipped = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        report = json.load(file, strict=False)
    for suite in report.get("testsuites", []):
        for case in suite["testsuite"]:
            if case.get("failures"):
                failed += 1
            elif case.get("result") == "SKIPPED":
                skipped += 1
            elif case.get("status") == "RUN":
                passed += 1
    return passed, failed, skipped


def count_junit(path):
    passed = failed = skipped = 0
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        if case.get("status") == "fail" or case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(paths):
    total = [0, 0, 0]
    for path in paths:
        try:
            counts = count_gtest(path) if path.endswith(".json") else count_junit(path)
        except (OSError, ValueError, xml.etree.ElementTree.ParseError):
            counts = (0, 1, 0)
        total = [a + b for a, b in zip(total, counts)]
    print(*total)


if __name__ == "__main__":
    main(sys.argv[1:])
