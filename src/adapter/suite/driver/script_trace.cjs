// Counts with V8 which lines each test runs, and leads them back through the source maps to the lines
// that a person wrote. Runs where the tests run, as one more setup file of Vitest or Jest.
//
// What it found is appended to the file that REGREEN_LINES names, one JSON object per line:
//   {"file", "names", "lines": {PATH: [LINE, ...]}}       of one test
//   {"file", "shared": {PATH: [...]}, "known": {PATH: [...]}, "functions": {PATH: [[NAME, LINE, RAN], ...]}}
//                                                          of a whole test file, behind its tests
// `shared` ran outside of any single test, such as while modules were loaded; `known` could have run. The folder
// that REGREEN_COUNTS names gets V8's counts, one file for each test file.
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { Session } = require('node:inspector');
const { appendRecord } = require('./append_record.cjs');
const { createMapper } = require('./script_lines.cjs');

const out = process.env.REGREEN_LINES;
const root = process.env.REGREEN_ROOT;
const counts = process.env.REGREEN_COUNTS;
const write = (record) => appendRecord(out, record);

// One session for each worker, however many test files it gets.
const session = (globalThis[Symbol.for('regreen.lines')] ??= connect());

function connect() {
  const scripts = new Map();
  const inspector = new Session();
  inspector.connect();
  inspector.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params));
  inspector.post('Debugger.enable');
  // A `debugger` in the code must not stop it.
  inspector.post('Debugger.setSkipAllPauses', { skip: true });
  inspector.post('Profiler.enable');
  inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const source = (id) => {
    let text = '';
    inspector.post('Debugger.getScriptSource', { scriptId: id }, (error, found) => (text = found?.scriptSource ?? ''));
    return text;
  };
  return { inspector, mapper: createMapper(root, source, counts) };
}

// What ran since it was asked last.
function taken() {
  let scripts = [];
  session.inspector.post('Profiler.takePreciseCoverage', (error, found) => (scripts = found?.result ?? []));
  return session.mapper.lines(scripts);
}

function add(into, found) {
  for (const [path, lines] of Object.entries(found)) {
    into[path] ??= new Set();
    for (const line of lines) into[path].add(line);
  }
}

const plain = (sets) => Object.fromEntries(Object.entries(sets).map(([path, lines]) => [path, [...lines].sort((a, b) => a - b)]));

// Notes what runs between `began` and `ended` of each test of one file, and behind all of them.
function createTrace() {
  const shared = {};
  let file = '';
  let group;
  let running = 0;
  let together = false;
  return {
    began(path, suite) {
      file ||= path;
      running += 1;
      // Tests that run at the same time cannot be distinguished.
      together ||= running > 1;
      if (together || group !== suite) add(shared, taken());
      group = suite;
    },
    ended(names) {
      running -= 1;
      const found = taken();
      if (together) add(shared, found);
      write({ file, names, lines: together ? {} : found });
      if (running === 0) together = false;
    },
    closed() {
      add(shared, taken());
      write({ file, shared: plain(shared), ...session.mapper.all() });
      if (counts) writeFileSync(join(counts, `${encodeURIComponent(file).slice(-200)}.counted`), JSON.stringify(session.mapper.report()));
    },
  };
}

module.exports = { createTrace };
