#!/usr/bin/env python3
"""Runs `regreen fix --json` on ten small repositories with one or two realistic bugs each.

    benches/repositories.py [--regreen target/dist/regreen] [--only NAME]

Prints a table: fixed, the edit to read beside the intended one, candidates, seconds.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

PACKAGE = '{"type": "module", "scripts": {"test": "node --test"}}\n'
NODE = "import { test } from 'node:test';\nimport assert from 'node:assert';\n"
UNIT = "import unittest\n"

# name: (files, the intended repair in words)
REPOSITORIES = {
    "py-ledger": ({
        "ledger/__init__.py": "",
        "ledger/account.py": "class Account:\n    def __init__(self, owner, balance=0):\n        self.owner = owner\n        self.balance = balance\n        self.entries = []\n\n    def deposit(self, amount):\n        if amount <= 0:\n            raise ValueError('amount')\n        self.balance += amount\n        self.entries.append(amount)\n\n    def withdraw(self, amount):\n        if amount >= self.balance:\n            raise ValueError('not enough')\n        self.balance -= amount\n        self.entries.append(-amount)\n",
        "ledger/bank.py": "from ledger.account import Account\n\n\ndef transfer(source, target, amount):\n    source.withdraw(amount)\n    target.deposit(amount)\n\n\ndef richest(accounts):\n    return min(accounts, key=lambda account: account.balance).owner\n",
        "tests/__init__.py": "",
        "tests/test_bank.py": UNIT + "from ledger.account import Account\nfrom ledger.bank import transfer, richest\n\nclass T(unittest.TestCase):\n    def test_deposit(self):\n        a = Account('a')\n        a.deposit(5)\n        self.assertEqual((a.balance, a.entries), (5, [5]))\n    def test_all_can_be_withdrawn(self):\n        a = Account('a', 10)\n        a.withdraw(10)\n        self.assertEqual(a.balance, 0)\n    def test_not_more(self):\n        with self.assertRaises(ValueError):\n            Account('a', 10).withdraw(11)\n    def test_transfer(self):\n        a, b = Account('a', 10), Account('b')\n        transfer(a, b, 4)\n        self.assertEqual((a.balance, b.balance), (6, 4))\n    def test_richest(self):\n        self.assertEqual(richest([Account('a', 3), Account('b', 9), Account('c', 5)]), 'b')\n    def test_richest_first(self):\n        self.assertEqual(richest([Account('x', 7), Account('y', 2)]), 'x')\n",
    }, "`>=` to `>`; `min` to `max`"),
    "py-text": ({
        "words.py": "def title(text):\n    return ' '.join(word[0].upper() + word[1:].lower() for word in text.split())\n\n\ndef wrap(text, width):\n    lines, line = [], ''\n    for word in text.split():\n        if line and len(line) + len(word) > width:\n            lines.append(line)\n            line = word\n        else:\n            line = f'{line} {word}'.strip()\n    if line:\n        lines.append(line)\n    return lines\n\n\ndef acronym(text):\n    return ''.join(word[0] for word in text.split())\n",
        "test_words.py": UNIT + "import words\n\nclass T(unittest.TestCase):\n    def test_title(self):\n        self.assertEqual(words.title('hELLO wORLD'), 'Hello World')\n    def test_wrap_counts_the_blank(self):\n        self.assertEqual(words.wrap('aaa bbb', 6), ['aaa', 'bbb'])\n    def test_wrap_fits(self):\n        self.assertEqual(words.wrap('aaa bbb', 7), ['aaa bbb'])\n    def test_wrap_long(self):\n        self.assertEqual(words.wrap('a bb ccc dddd', 5), ['a bb', 'ccc', 'dddd'])\n    def test_acronym(self):\n        self.assertEqual(words.acronym('portable network graphics'), 'PNG')\n    def test_acronym_mixed(self):\n        self.assertEqual(words.acronym('Light amplification'), 'LA')\n",
    }, "`>` to `>=` (or `+ 1`); `.upper()`"),
    "py-schedule": ({
        "slots.py": "def overlaps(a, b):\n    return a[0] < b[1] or b[0] < a[1]\n\n\ndef free(busy, start, end):\n    at = start\n    gaps = []\n    for first, last in sorted(busy):\n        if first > at:\n            gaps.append((at, first))\n        at = last\n    if at < end:\n        gaps.append((at, end))\n    return gaps\n",
        "test_slots.py": UNIT + "from slots import overlaps, free\n\nclass T(unittest.TestCase):\n    def test_apart(self):\n        self.assertFalse(overlaps((1, 2), (3, 4)))\n    def test_touching(self):\n        self.assertFalse(overlaps((1, 2), (2, 4)))\n    def test_inside(self):\n        self.assertTrue(overlaps((1, 9), (3, 4)))\n    def test_free(self):\n        self.assertEqual(free([(3, 4)], 1, 6), [(1, 3), (4, 6)])\n    def test_nested(self):\n        self.assertEqual(free([(1, 8), (2, 3)], 0, 10), [(0, 1), (8, 10)])\n    def test_nothing_free(self):\n        self.assertEqual(free([(0, 9)], 0, 9), [])\n",
    }, "`or` to `and`; `at = max(at, last)`"),
    "py-cache": ({
        "cache.py": "from collections import OrderedDict\n\n\nclass Cache:\n    def __init__(self, size):\n        self.size = size\n        self.items = OrderedDict()\n        self.hits = 0\n\n    def get(self, key, default=None):\n        if key not in self.items:\n            return default\n        self.hits += 1\n        self.items.move_to_end(key)\n        return self.items[key]\n\n    def put(self, key, value):\n        self.items[key] = value\n        self.items.move_to_end(key)\n        if len(self.items) > self.size:\n            self.items.popitem(last=True)\n",
        "test_cache.py": UNIT + "from cache import Cache\n\nclass T(unittest.TestCase):\n    def test_get(self):\n        c = Cache(2)\n        c.put('a', 1)\n        self.assertEqual((c.get('a'), c.hits), (1, 1))\n    def test_default(self):\n        self.assertEqual(Cache(2).get('a', 7), 7)\n    def test_oldest_goes(self):\n        c = Cache(2)\n        for key in 'abc':\n            c.put(key, key)\n        self.assertEqual(list(c.items), ['b', 'c'])\n    def test_used_stays(self):\n        c = Cache(2)\n        c.put('a', 1)\n        c.put('b', 2)\n        c.get('a')\n        c.put('c', 3)\n        self.assertEqual(sorted(c.items), ['a', 'c'])\n    def test_full(self):\n        c = Cache(2)\n        c.put('a', 1)\n        c.put('b', 2)\n        self.assertEqual(len(c.items), 2)\n",
    }, "`last=True` to `last=False`"),
    "py-grades": ({
        "grades.py": "def average(marks):\n    return sum(marks) / len(marks)\n\n\ndef grade(points, maximum=100):\n    share = points * 100 // maximum\n    for least, name in [(90, 'A'), (75, 'B'), (50, 'C')]:\n        if share >= least:\n            return name\n    return 'F'\n\n\ndef ranking(students):\n    return sorted(students, key=lambda name: students[name])\n\n\ndef passed(students):\n    return [name for name, points in students.items() if grade(points) != 'F']\n",
        "test_grades.py": UNIT + "from grades import average, grade, ranking, passed\n\nclass T(unittest.TestCase):\n    def test_average(self):\n        self.assertEqual(average([1, 2, 3]), 2)\n    def test_no_marks(self):\n        self.assertEqual(average([]), 0)\n    def test_grade(self):\n        self.assertEqual([grade(p) for p in (95, 90, 75, 50, 49)], ['A', 'A', 'B', 'C', 'F'])\n    def test_other_maximum(self):\n        self.assertEqual(grade(20, 40), 'C')\n    def test_ranking(self):\n        self.assertEqual(ranking({'ann': 50, 'bob': 90, 'cid': 70}), ['bob', 'cid', 'ann'])\n    def test_passed(self):\n        self.assertEqual(passed({'ann': 50, 'bob': 10}), ['ann'])\n",
    }, "`reverse=True`; a guard for no marks"),
    "js-cart": ({
        "package.json": PACKAGE,
        "src/cart.js": "export class Cart {\n  constructor() {\n    this.items = new Map();\n  }\n  add(name, price, count = 1) {\n    const item = this.items.get(name) ?? { price, count: 0 };\n    item.count = count;\n    this.items.set(name, item);\n  }\n  total() {\n    let sum = 0;\n    for (const { price, count } of this.items.values()) {\n      sum += price * count;\n    }\n    return sum;\n  }\n  cheapest() {\n    return [...this.items.entries()].sort((a, b) => b[1].price - a[1].price)[0][0];\n  }\n}\n",
        "test/cart.test.js": NODE + "import { Cart } from '../src/cart.js';\ntest('total', () => { const c = new Cart(); c.add('a', 2, 3); c.add('b', 5); assert.equal(c.total(), 11); });\ntest('adds up', () => { const c = new Cart(); c.add('a', 2, 3); c.add('a', 2, 1); assert.equal(c.total(), 8); });\ntest('cheapest', () => { const c = new Cart(); c.add('a', 2); c.add('b', 1); c.add('c', 3); assert.equal(c.cheapest(), 'b'); });\ntest('empty', () => { assert.equal(new Cart().total(), 0); });\n",
    }, "`=` to `+=`; swap `a` and `b`"),
    "js-query": ({
        "package.json": PACKAGE,
        "src/query.js": "export function parse(text) {\n  const found = {};\n  for (const part of text.replace('?', '').split('&')) {\n    const [key, value] = part.split('=');\n    if (key !== '') {\n      found[key] = decodeURIComponent(value ?? '');\n    }\n  }\n  return found;\n}\n\nexport function write(values) {\n  return Object.entries(values)\n    .filter(([, value]) => value === undefined)\n    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)\n    .join('&');\n}\n",
        "test/query.test.js": NODE + "import { parse, write } from '../src/query.js';\ntest('parses', () => { assert.deepEqual(parse('?a=1&b=x%20y'), { a: '1', b: 'x y' }); });\ntest('no value', () => { assert.deepEqual(parse('a'), { a: '' }); });\ntest('nothing', () => { assert.deepEqual(parse(''), {}); });\ntest('writes', () => { assert.equal(write({ a: 1, b: 'x y' }), 'a=1&b=x%20y'); });\ntest('leaves out', () => { assert.equal(write({ a: undefined, b: 2 }), 'b=2'); });\n",
    }, "`===` to `!==`"),
    "js-async": ({
        "package.json": PACKAGE,
        "src/retry.js": "export async function retry(action, times) {\n  let last;\n  for (let attempt = 0; attempt < times; attempt++) {\n    try {\n      return action(attempt);\n    } catch (error) {\n      last = error;\n    }\n  }\n  throw last;\n}\n\nexport function delay(attempt, base = 100) {\n  return Math.max(base * 2 ** attempt, 1000);\n}\n",
        "test/retry.test.js": NODE + "import { retry, delay } from '../src/retry.js';\ntest('at once', async () => { assert.equal(await retry(async () => 7, 3), 7); });\ntest('later', async () => { let n = 0; assert.equal(await retry(async () => { if (n++ < 2) throw new Error('no'); return n; }, 5), 3); });\ntest('never', async () => { await assert.rejects(retry(async () => { throw new Error('no'); }, 2), /no/); });\ntest('delays grow', () => { assert.deepEqual([delay(0), delay(1), delay(2)], [100, 200, 400]); });\ntest('delays end', () => { assert.equal(delay(9), 1000); });\n",
    }, "`await`; `Math.max` to `Math.min`"),
    "js-dates": ({
        "package.json": PACKAGE,
        "src/dates.js": "export function isLeap(year) {\n  return year % 4 === 0 && (year % 100 !== 0 && year % 400 === 0);\n}\n\nexport function daysIn(month, year) {\n  if (month === 2) {\n    return isLeap(year) ? 29 : 28;\n  }\n  return [4, 6, 9, 11].includes(month) ? 31 : 30;\n}\n",
        "test/dates.test.js": NODE + "import { isLeap, daysIn } from '../src/dates.js';\ntest('leap', () => { assert.equal(isLeap(2024), true); });\ntest('century', () => { assert.equal(isLeap(1900), false); });\ntest('four centuries', () => { assert.equal(isLeap(2000), true); });\ntest('common', () => { assert.equal(isLeap(2023), false); });\ntest('april', () => { assert.equal(daysIn(4, 2023), 30); });\ntest('may', () => { assert.equal(daysIn(5, 2023), 31); });\ntest('february', () => { assert.equal(daysIn(2, 2023), 28); });\n",
    }, "`&&` to `||`; swap 31 and 30"),
    "js-tree": ({
        "package.json": PACKAGE,
        "src/tree.js": "export function depth(node) {\n  if (!node) {\n    return 0;\n  }\n  return 1 + Math.max(depth(node.left), depth(node.left));\n}\n\nexport function values(node) {\n  if (!node) {\n    return [];\n  }\n  return [...values(node.left), node.value, ...values(node.right)];\n}\n\nexport function find(node, value) {\n  if (!node) {\n    return false;\n  }\n  if (node.value === value) {\n    return true;\n  }\n  return value > node.value ? find(node.left, value) : find(node.right, value);\n}\n",
        "test/tree.test.js": NODE + "import { depth, values, find } from '../src/tree.js';\nconst leaf = (value) => ({ value });\nconst tree = { value: 5, left: leaf(3), right: { value: 8, right: leaf(9) } };\ntest('depth', () => { assert.equal(depth(tree), 3); });\ntest('empty', () => { assert.equal(depth(undefined), 0); });\ntest('values', () => { assert.deepEqual(values(tree), [3, 5, 8, 9]); });\ntest('finds', () => { assert.equal(find(tree, 9), true); });\ntest('finds left', () => { assert.equal(find(tree, 3), true); });\ntest('finds nothing', () => { assert.equal(find(tree, 4), false); });\n",
    }, "second `left` to `right`; `>` to `<`"),
}


def run(name, files, options):
    with tempfile.TemporaryDirectory(prefix=f"regreen-{name}-") as folder:
        repo = os.path.join(folder, "repo")
        for path, text in files.items():
            path = os.path.join(repo, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        git = ["git", "-C", repo, "-c", "user.name=b", "-c", "user.email=b@localhost"]
        subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
        subprocess.run(git + ["add", "-A"], check=True)
        subprocess.run(git + ["commit", "-q", "-m", "first"], check=True)
        environment = dict(os.environ, REGREEN_WORK_DIR=os.path.join(folder, "work"))
        began = time.monotonic()
        done = subprocess.run([options.regreen, "fix", repo, "--json", "--quiet"], capture_output=True, text=True, env=environment)
        return json.loads(done.stdout), time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regreen", default="target/dist/regreen")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.regreen = os.path.abspath(options.regreen)
    print("| repository | result | rate | candidates | seconds | edits | intended |\n|:--|:--|:--|--:|--:|:--|:--|")
    for name, (files, intended) in REPOSITORIES.items():
        if options.only and options.only != name:
            continue
        document, seconds = run(name, files, options)
        edits = [one["summary"] for one in document["iterations"] if one["outcome"] == "improved"]
        rate = f"{(document['initial'] or {}).get('percent')} → {(document['last'] or {}).get('percent')} %"
        tried = sum(one["candidates"] for one in document["iterations"])
        print(f"| {name} | {document['result'] or document['reason'][:60]} | {rate} | {tried} | {seconds:.1f} | {'<br>'.join(edits)} | {intended} |", flush=True)


if __name__ == "__main__":
    main()
