// A reporter for Jasmine that writes one JSON line per spec to the file in REGREEN_CASES. REGREEN_SELECT
// may name a file with one spec per line: only those run. Specs of the same name are numbered.
'use strict';

const fs = require('node:fs');
const { watch } = require('./load_error.cjs');

const MESSAGE_LIMIT = 4096;
const STACK_LIMIT = 16384;
// Jasmine does not say which of the two it was.
const HOOK = 'beforeAll or afterAll';

module.exports = class Reporter {
  constructor() {
    this.out = fs.openSync(process.env.REGREEN_CASES, 'a');
    this.root = fs.realpathSync(process.env.REGREEN_ROOT ?? '.');
    this.suites = [];
    this.counts = new Map();
    const list = process.env.REGREEN_SELECT;
    if (list) this.choose(fs.readFileSync(list, 'utf8').split('\n').filter(Boolean));
    this.loaded = watch(this.root, () => undefined, (record) => {
      this.write({ ...record, names: undefined, id: record.file, kind: 'prerequisite' });
      this.write({ end: true });
    });
  }

  jasmineStarted() {
    this.loaded();
  }

  // Specs of one name are chosen together. What is no spec is a hook or a file: then all of them run.
  choose(ids) {
    if (ids.some((id) => !id.includes('::') || id.endsWith(HOOK))) return;
    const chosen = new Set(ids.map((id) => id.slice(id.indexOf('::') + 2).replace(/ \(\d+\)$/, '')));
    const specFilter = (spec) =>
      chosen.has(typeof spec.getPath === 'function' ? spec.getPath().join(' > ') : spec.getFullName());
    globalThis.jasmine.getEnv().configure({ specFilter });
  }

  write(record) {
    fs.writeSync(this.out, JSON.stringify(record) + '\n');
  }

  named(names, file) {
    const key = JSON.stringify([file, names]);
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    return count > 1 ? [...names.slice(0, -1), `${names.at(-1)} (${count})`] : names;
  }

  report(names, file, status, failures, ms, kind) {
    const record = { names: this.named(names, file), kind, status, file: file ?? null, ms: Math.round(ms ?? 0) };
    const [first] = failures;
    if (first) {
      // Jasmine writes the class of an error before its message.
      const thrown = first.matcherName ? null : /^([A-Z]\w*(?:Error|Exception)?): ([^]*)$/.exec(first.message);
      record.class = thrown ? thrown[1] : first.matcherName ? 'ExpectationFailed' : 'Error';
      record.message = String(thrown ? thrown[2] : first.message).slice(0, MESSAGE_LIMIT);
      record.stack = String(first.stack ?? '').slice(0, STACK_LIMIT);
      const [, place, line] = /((?:file:\/\/)?\/[^\s():]+):(\d+):\d+/.exec(this.own(record.stack)) ?? [];
      if (place && file && place.replace('file://', '') === file) record.line = Number(line);
    }
    this.write(record);
    const shown = first ? `${record.message}\n${record.stack}\n` : '';
    process.stdout.write(`${status}: ${record.names.join(' > ')}\n${shown}`);
  }

  own(stack) {
    return stack.split('\n').filter((line) => line.includes(this.root) && !line.includes('node_modules')).join('\n');
  }

  suiteStarted(suite) {
    this.suites.push(suite.description);
  }

  suiteDone(suite) {
    if (suite.failedExpectations.length > 0) {
      this.report([...this.suites, HOOK], suite.filename, 'failed', suite.failedExpectations, 0, 'hook');
    }
    this.suites.pop();
  }

  specDone(spec) {
    // A spec that was not chosen did not run.
    if (spec.status === 'excluded' && process.env.REGREEN_SELECT) return;
    const status = { passed: 'passed', failed: 'failed' }[spec.status] ?? 'skipped';
    this.report([...this.suites, spec.description], spec.filename, status, spec.failedExpectations, spec.duration);
  }

  // A file that does not load, or a hook of the whole run that fails.
  jasmineDone(run) {
    for (const failure of run.failedExpectations ?? []) {
      if (failure.globalErrorType !== 'load') {
        this.report([HOOK], null, 'failed', [failure], 0, 'hook');
        continue;
      }
      const [, place] = /((?:file:\/\/)?\/[^\s():]+):\d+:\d+/.exec(this.own(failure.stack ?? '')) ?? [];
      this.report([], place?.replace('file://', '') ?? 'jasmine', 'failed', [failure], 0);
    }
    this.write({ end: true });
  }
};
