"""A test runner of Django that writes one JSON line per test to the file in REGREEN_CASES.

It extends the project's own runner. REGREEN_SELECT may name a file with one test id per line: only
those tests run. Works on Django 3.2 and later.
"""

import json
import os

from django.conf import settings
from django.test.utils import get_runner

import unittest_driver as driver


class Runner(get_runner(settings)):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        # Results and limits of tests cannot be passed between processes.
        self.parallel = 1

    def build_suite(self, test_labels=None, *arguments, **options):
        path = os.environ.get("REGREEN_SELECT")
        if path:
            with open(path, encoding="utf-8") as file:
                test_labels = [driver.group_of(line.rstrip("\n")) for line in file if line.strip()]
        return super().build_suite(test_labels, *arguments, **options)

    def get_resultclass(self):
        return driver.Result

    def run_suite(self, suite, **options):
        # A command may run tests more than once.
        with open(os.environ["REGREEN_CASES"], "a", encoding="utf-8") as file:
            driver.Result.out = file
            result = super().run_suite(driver.prepared(suite), **options)
            file.write(json.dumps({"end": True}) + "\n")
            driver.await_end()
        return result
