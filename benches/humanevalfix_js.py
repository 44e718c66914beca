#!/usr/bin/env python3
"""Measures the embedded engine on a set of small JavaScript bugs, one git repository per bug.

    benches/humanevalfix_js.py SET.jsonl [--regreen target/dist/regreen] [--jobs 1] [--only ID,ID] [--check]

Each line of the set holds `declaration`, `buggy_solution`, `canonical_solution`, `test` and `bug_type`, as HumanEvalFix
(HumanEvalPack, JavaScript) publishes them. Node's own runner runs the tests, so that nothing is downloaded. An edit is
*plausible* when the tests pass, and *correct* when it agrees with the reference on many inputs that the tests do not
hold, made from the arguments that they hold.
"""

import re
import textwrap

import humanevalfix_sets as sets

PACKAGE = '''{
  "name": "solution",
  "version": "1.0.0",
  "private": true,
  "scripts": {
    "test": "node --test"
  }
}
'''

JUDGE = r'''
'use strict';
const fs = require('fs');
const util = require('util');
const vm = require('vm');
const reference = require('./reference.js');
const NAME = 'FUNCTION';

// The same inputs each time, also where a test draws its own.
let state = 7;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let one = Math.imul(state ^ (state >>> 15), 1 | state);
  one = (one + Math.imul(one ^ (one >>> 7), 61 | one)) ^ one;
  return ((one ^ (one >>> 14)) >>> 0) / 2 ** 32;
};
const below = n => Math.floor(random() * n);
const pick = list => list[below(list.length)];

// A script of this context and not of a new one, whose arrays would not be `instanceof Array`.
let work;
globalThis.judged = () => work();
const script = new vm.Script('globalThis.judged()');
const call = (f, input, timeout) => {
  const copy = structuredClone(input);
  work = () => f(...copy);
  try {
    return [true, script.runInThisContext({ timeout })];
  } catch (error) {
    return [false, error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? 'no end' : String(error)];
  }
};

// The tests run once with the reference, which tells what they pass to it.
const seeds = [];
const names = { ...reference };
names[NAME] = (...input) => {
  seeds.push(structuredClone(input));
  return reference[NAME](...input);
};
Math.random = random;
new Function(...Object.keys(names), 'console', fs.readFileSync('tests.js', 'utf8'))(...Object.values(names), { assert() {} });

const mutatedText = text => {
  const letters = text.split('');
  const pool = text + 'aB3 .,e()[]yZ';
  for (let i = below(4); i > 0; i--) {
    const at = below(letters.length);
    const way = below(3);
    if (way === 0 || letters.length === 0) letters.splice(below(letters.length + 1), 0, pick(pool));
    else if (way === 1) letters.splice(at, 1);
    else letters[at] = pick(pool);
  }
  return letters.join('');
};
const mutatedList = list => {
  const items = list.map(item => (random() < 0.4 ? mutated(item) : item));
  const way = below(5);
  if (way === 0) items.splice(below(items.length), 1);
  else if (way === 1 && items.length) items.splice(below(items.length + 1), 0, pick(items));
  else if (way === 2) items.sort(() => random() - 0.5);
  return items;
};
const mutated = value => {
  if (typeof value === 'boolean') return !value;
  if (Number.isInteger(value)) return pick([value + 1, value - 1, value, -value, 0, below(141) - 20, value * 2]);
  if (typeof value === 'number') return pick([value + 1, value - 0.5, -value, value, below(10000) / 100 - 50]);
  if (typeof value === 'string') return mutatedText(value);
  if (Array.isArray(value)) return mutatedList(value);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, random() < 0.5 ? mutated(item) : item]));
};
// An argument of another test goes with those of this one, since a name or a word is seldom hit by chance.
const made = seed => seed.map((value, i) => (below(4) === 0 ? pick(seeds)[i] : mutated(value)));

const same = (one, other) => {
  if (typeof one === 'number' && typeof other === 'number') {
    if (one === other || (Number.isNaN(one) && Number.isNaN(other))) return true;
    if (Number.isSafeInteger(one) && Number.isSafeInteger(other)) return false;
    return Math.abs(one - other) < 1e-6 * Math.max(1, Math.min(Math.abs(one), Math.abs(other)));
  }
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, i) => same(value, other[i]));
  return util.isDeepStrictEqual(one, other);
};

let candidate = {};
try {
  candidate = require('./candidate.js');
} catch (error) {
  // Every call fails then.
}
const inputs = [...seeds];
while (seeds.length && inputs.length < seeds.length + 1000) inputs.push(made(pick(seeds)));
// Some functions have no end for many of the inputs.
const end = Date.now() + 60000;
let tried = 0;
let differ = 0;
let first = '';
for (const input of inputs) {
  if (Date.now() > end) break;
  const [returned, expected] = call(reference[NAME], input, 200);
  if (!returned) continue;
  tried += 1;
  // More, since a busy machine must not decide.
  const [ok, actual] = call(candidate[NAME], input, 1000);
  if (ok && same(expected, actual)) continue;
  differ += 1;
  const text = value => util.inspect(value, { breakLength: Infinity }).slice(0, 100);
  first ||= ` ${text(input)} gives ${text(expected)}, and not ${text(actual)}`;
}
console.log(`JUDGED ${tried} ${differ}${first.replace(/\s+/g, ' ')}`);
'''

# A package that a row loads.
MD5 = '''const { createHash } = require('crypto');

module.exports = (text) => createHash('md5').update(text).digest('hex');
'''


def names(row):
    """What the file of a solution defines; the function to repair is the last."""
    return re.findall(r"^(?:const|let|var|function) (\w+)", row["declaration"], re.M)


def solution(row, body):
    text = (row["declaration"] + body).strip().replace("'js-md5'", "'./md5.js'")
    return f"{text}\n\nmodule.exports = {{ {', '.join(names(row))} }};\n"


def helper(row):
    return {"md5.js": MD5} if "js-md5" in row["canonical_solution"] else {}


def arguments(text):
    """What each `console.assert` takes, if there is nothing else in the text."""
    found = []
    tokens = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*.*?\*/|[()]", re.S)
    between = re.compile(r"(?:\s|;|//[^\n]*|/\*.*?\*/)*", re.S)
    at = between.match(text).end()
    while at < len(text):
        if not text.startswith("console.assert(", at):
            return []
        began = at + len("console.assert(")
        depth = 1
        for token in tokens.finditer(text, began):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if depth == 0:
                break
        else:
            return []
        found.append(text[began:token.start()].strip().rstrip(","))
        at = between.match(text, token.end()).end()
    return found


def test_file(row):
    """One test per assertion where they are independent, else one for all."""
    name = names(row)[-1]
    whole = row["test"].strip()
    body = re.fullmatch(r"const (\w+) = \(\) => \{\n(.*)\n\}\s*\1\(\);?", whole, re.S)
    tests = [f"assert.ok({one});" for one in (arguments(body[2]) if body else [])]
    if not tests:
        tests = [textwrap.indent(whole.replace("console.assert", "assert.ok"), "  ").lstrip()]
    # Only what the tests name.
    used = [one for one in names(row) if re.search(rf"\b{one}\b", whole)]
    text = "const assert = require('node:assert');\nconst test = require('node:test');\n"
    text += f"const {{ {', '.join(used)} }} = require('./solution');\n"
    for number, one in enumerate(tests, 1):
        text += f"\ntest('{name} {number}', () => {{\n  {one}\n}});\n"
    return text


def files(row, body):
    return helper(row) | {"package.json": PACKAGE, "solution.js": solution(row, body), "solution.test.js": test_file(row)}


def judge(row, fixed, folder):
    sets.write(folder, helper(row) | {"judge.js": JUDGE.replace("FUNCTION", names(row)[-1]), "tests.js": row["test"],
                                      "reference.js": solution(row, row["canonical_solution"]), "candidate.js": fixed})
    return sets.verdict(["node", "judge.js"], folder)


if __name__ == "__main__":
    test = ["node", "--test"]
    sets.main(__doc__, sets.Language(source="solution.js", test=test, files=files, judge=judge))
