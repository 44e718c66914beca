// A reporter for `node --test` that writes one JSON line per test. What it yielded would be lost where
// `--test-force-exit` ends the process.
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { appendRecord } from './append_record.cjs';

const MESSAGE_LIMIT = 4096;
const STACK_LIMIT = 16384;

// Read before tests can replace them, which may run in this process.
const [results, folder] = [process.env.REGREEN_CASES, process.cwd()];
const write = (record) => appendRecord(results, record);

// An error comes out of another process; one that holds what cannot be sent is only a text to inspect.
const textOf = (value) => (typeof value === 'string' ? value : inspect(value));

function describe(cause) {
  const text = textOf(cause?.stack ?? cause ?? '');
  const seen = cause?.message === undefined ? /^(\w*Error)(?: \[\w+\])?: ([^]*?)(?=\n {4}at |$)/.exec(text) : null;
  const [name, message] = seen ? seen.slice(1) : [cause?.name ?? 'Error', cause?.message ?? text];
  return { class: textOf(name), message: textOf(message).slice(0, MESSAGE_LIMIT), stack: text.slice(0, STACK_LIMIT) };
}

export default async function* report(source) {
  const open = new Map();
  const outputs = new Map();
  // Files of which a test was reported.
  const tested = new Set();
  let ended = false;
  for await (const { type, data } of source) {
    if (type === 'test:stderr') {
      // From Node.js 22 on, the path is the one by which the file was found.
      const file = resolve(folder, data.file);
      const text = outputs.get(file) ?? '';
      if (text.length < STACK_LIMIT) outputs.set(file, text + data.message);
    } else if (type === 'test:start') {
      const names = open.get(data.file) ?? [];
      names.length = data.nesting;
      names[data.nesting] = data.name;
      open.set(data.file, names);
    } else if (type === 'test:plan' && data.nesting === 0 && !data.file) {
      ended = true;
      write({ end: true });
    } else if (data.name === 'regreen:reported') {
      // `warm_node.mjs` asks for it behind the tests of a file, and does not wait where one of them never ends.
      if (type !== 'test:pass') continue;
      write({ end: true });
      process.emit('regreen:reported');
    } else if (type === 'test:pass' || type === 'test:fail') {
      const names = (open.get(data.file) ?? []).slice(0, data.nesting);
      names[data.nesting] = data.name;
      const error = data.details?.error;
      const cause = error?.cause ?? error;
      // A suite fails because a test in it failed, which is reported already; a suite that fails by
      // itself, and a file that cannot be loaded, are failures of their own.
      const suite = data.details?.type === 'suite';
      const byChild = error?.failureType === 'subtestsFailed';
      if (suite ? type === 'test:pass' || byChild : byChild) continue;
      const isFile = data.nesting === 0 && (resolve(folder, data.name) === data.file || error?.failureType === 'testCodeFailure' && data.file?.endsWith(data.name) && data.line === 1 && data.column === 1);
      // A file without tests is one itself.
      if (isFile && type === 'test:pass' && tested.has(data.file)) continue;
      if (!isFile) tested.add(data.file);
      // Its tests are cancelled too, and the hook of the suite around it says why.
      if (suite && error?.failureType === 'cancelledByParent') continue;
      const isHook = error?.failureType === 'hookFailed' && (suite || isFile);
      const skipped = data.skip !== undefined || data.todo !== undefined;
      const record = {
        names: isHook ? [...(isFile ? [] : names), 'hook'] : isFile ? [] : names,
        kind: isHook ? 'hook' : suite && error?.failureType === 'testCodeFailure' ? 'unloaded' : undefined,
        status: skipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed',
        file: data.file ?? null,
        line: data.line ?? null,
        ms: Math.round(data.details?.duration_ms ?? 0),
      };
      if (record.status === 'failed') {
        Object.assign(record, describe(cause));
        // A file that cannot be loaded explains itself on standard error only.
        const text = isFile ? (outputs.get(data.file) ?? '') : '';
        const found = text.match(/^(\w*Error)(?: \[\w+\])?: (.*)$/m);
        if (found) Object.assign(record, { class: found[1], message: found[2], stack: text.slice(0, STACK_LIMIT) });
      }
      write(record);
    }
  }
  if (!ended) write({ end: true });
}
