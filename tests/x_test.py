#!/usr/bin/env python3
"""./x refuses what it does not know before it does anything, and takes what it runs with it when it is stopped."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFUSED = {
    "setup --nosuch": "setup: unknown option --nosuch",
    "build nosuch": "build: unknown preset nosuch",
    "format --nosuch": "format: unknown option --nosuch",
    "lint --nosuch": "lint: unknown option --nosuch",
    "lint --within soon": "lint: --within needs a number of seconds, found soon",
    "bench --nosuch": "unrecognized arguments: --nosuch",
    "bench --pairs 0": "--pairs wants at least 1",
    "test --nosuch": "test: unknown option --nosuch",
    "test --filter": "test: --filter needs a part of a test's name, found nothing",
    "test --soak": "test: --soak needs a number of minutes, found nothing",
    "test --soak abc": "test: --soak needs a number of minutes, found abc",
}


def x(*arguments):
    return subprocess.run([ROOT / "x", *arguments], capture_output=True, text=True, timeout=30)


class Arguments(unittest.TestCase):
    def test_unknown_ones_are_refused_with_a_sentence(self):
        for line, sentence in REFUSED.items():
            with self.subTest(line):
                found = x(*line.split())
                self.assertEqual(found.returncode, 2)
                self.assertIn(sentence, found.stderr)
                self.assertEqual(found.stdout, "")

    def test_help_builds_nothing(self):
        for line in ["help", "bench --help"]:
            found = x(*line.split())
            self.assertEqual(found.returncode, 0)
            self.assertTrue(found.stdout.startswith("usage: ./x"))


class Signals(unittest.TestCase):
    def test_what_runs_ends_with_the_script(self):
        for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(number.name):
                reader, writer = os.pipe()  # held open by every process below
                script = f"source {ROOT}/x help >/dev/null; echo ready; limit 60 bash -c 'sleep 60 & wait'"
                with subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, pass_fds=[writer]) as running:
                    os.close(writer)
                    running.stdout.readline()
                    time.sleep(0.5)
                    running.send_signal(number)
                    self.assertEqual(running.wait(timeout=30), status)
                with os.fdopen(reader, "rb") as end:
                    self.assertEqual(end.read(), b"")  # returns when the last of them has gone


class Mutation(unittest.TestCase):
    def test_what_it_breaks_is_there(self):
        """The check itself runs outside CI (./x test --mutate); the sources that it breaks go on changing."""
        done = subprocess.run([sys.executable, ROOT / "tests" / "mutation" / "mutate.py", "--places"], capture_output=True, text=True,
                              timeout=30)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 0)


class Beside(unittest.TestCase):
    def test_two_run_at_a_time_and_others_do_not_count(self):
        script = f"""source {ROOT}/x help >/dev/null
            work() {{ echo +; sleep 0.2; echo -; }}
            sleep 20 &
            for _ in 1 2 3 4 5; do beside work; done
            beside_ends
            kill %1"""
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.stderr, "")
        found = done.stdout.split()
        running = [found[: i + 1].count("+") - found[: i + 1].count("-") for i in range(len(found))]
        self.assertEqual(found.count("-"), 5)
        self.assertEqual(max(running), 2)


if __name__ == "__main__":
    unittest.main()
