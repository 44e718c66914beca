// A reporter for Mocha that writes one JSON line per test to the file in REGREEN_CASES. REGREEN_SELECT
// may name a file with one test per line: only those tests run. Tests of the same name are numbered.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { appendRecord } = require('./append_record.cjs');
const { watch } = require('./load_error.cjs');
const { awaitsEnd } = require('./process_end.cjs');
const { apply, callLimited } = require('./sync_limit.cjs');

const MESSAGE_LIMIT = 4096;
const STACK_LIMIT = 16384;

function titles(test) {
  return typeof test.titlePath === 'function' ? test.titlePath() : [test.title];
}

class Names {
  counts = new Map();
  known = new Map();

  of(run) {
    // A test that is run again is a copy of the first one.
    const test = run.retriedTest?.() ?? run;
    const found = this.known.get(test);
    if (found) return found;
    const names = titles(test);
    const key = JSON.stringify([test.file, names]);
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    if (count > 1) names[names.length - 1] += ` (${count})`;
    this.known.set(test, names);
    return names;
  }
}

const root = fs.realpathSync(process.env.REGREEN_ROOT ?? '.');

const results = process.env.REGREEN_CASES;
const write = (record) => appendRecord(results, record);

// Mocha requires this file before the tests, and names each of them before it is loaded.
let loading;
const Suite = module.parent?.exports?.Suite;
if (Suite) {
  const { emit } = Suite.prototype;
  Suite.prototype.emit = function (event, ...words) {
    if (event === 'pre-require') loading = words[1];
    return emit.call(this, event, ...words);
  };
}
const loaded = watch(root, () => loading, (record) => {
  write(record);
  write({ end: true });
});

// All tests run, also where the command ends with the first failure: what did not run says nothing.
function runAll(suite) {
  suite.bail(false);
  suite.suites.forEach(runAll);
}

// A test that computes without end fails at a limit. Mocha counts the arguments of its function.
function limit(test) {
  const { fn } = test;
  if (!fn) return;
  const limited = function (...words) {
    return callLimited(() => apply(fn, this, words));
  };
  test.fn = Object.defineProperty(limited, 'length', { value: fn.length });
}

module.exports = class Reporter {
  constructor(runner) {
    loaded();
    runAll(runner.suite);
    const names = new Names();
    const chosen = process.env.REGREEN_SELECT && fs.readFileSync(process.env.REGREEN_SELECT, 'utf8').split('\n');
    // With `--parallel` the tests are in other processes, which run all of them.
    const tests = [];
    runner.suite.eachTest((test) => {
      limit(test);
      tests.push([`${path.relative(root, test.file ?? '')}::${names.of(test).join(' > ')}`, test]);
    });
    if (chosen) {
      // What is no test is a file that did not load, or a hook, which runs with the tests of its suite.
      const ids = new Set(tests.map(([id]) => id));
      const hooks = chosen.filter((id) => id && !ids.has(id)).map((id) => id.replace(/"(before|after) (all|each)" hook.*/s, ''));
      for (const [id, test] of tests) {
        const kept = chosen.includes(id) || hooks.some((start) => id.startsWith(start));
        if (!kept) test.parent.tests = test.parent.tests.filter((other) => other !== test);
      }
    }
    const report = (test, status, error) => {
      const file = test.file ?? test.parent?.file ?? null;
      const record = { names: names.of(test), status, file, ms: Math.round(test.duration ?? 0) };
      if (test.type === 'hook') {
        record.kind = 'hook';
        // The test at which it failed is another one in another run.
        record.names = [...titles(test).slice(0, -1), test.title.replace(/ for ".*"$/s, '')];
      }
      if (error) {
        record.class = String(error.name ?? 'Error');
        record.message = String(error.message ?? error).slice(0, MESSAGE_LIMIT);
        record.stack = String(error.stack ?? '').slice(0, STACK_LIMIT);
      }
      write(record);
      process.stdout.write(`${status}: ${record.names.join(' > ')}\n${error ? `${record.stack || record.message}\n` : ''}`);
    };
    runner.on('pass', (test) => report(test, 'passed'));
    runner.on('pending', (test) => report(test, 'skipped'));
    runner.on('fail', (test, error) => report(test, 'failed', error ?? new Error('failed')));
    runner.once('end', () => {
      write({ end: true });
      awaitsEnd();
    });
  }
};
