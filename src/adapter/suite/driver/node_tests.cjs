// Changes the tests of `node:test` in three ways: one that computes without end fails at a limit, one that a
// helper declares belongs to the test file that called the helper, and the process of a file ends although it waits
// for something when its tests are over. Node.js runs this before a test file.
'use strict';
const { createHook } = require('node:async_hooks');
const { realpathSync } = require('node:fs');
const { fileURLToPath } = require('node:url');
const { isMainThread } = require('node:worker_threads');
const { awaitsEnd, awaitsMore } = require('./process_end.cjs');
const { apply, callLimited } = require('./sync_limit.cjs');
// The reporter uses it, which is loaded with the first test: too late to see `fs` as it is.
require('./append_record.cjs');

// The test file that runs, whatever it makes of the arguments. `warm_node.mjs` says which one is next.
let file = process.argv[1] && realPath(process.argv[1]);
process.on('regreen:file', (next) => {
  file = realPath(next);
});

const DEPTH = 100;
const FRAME = /^\s+at (?:async )?(?:(.*) \()?((?:file:\/\/)?\/.*):(\d+):\d+\)?$/;

function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

// Frames of the running code outside of Node.js and of this file, the innermost first.
function* ownFrames() {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = DEPTH;
  const lines = String(new Error().stack).split('\n');
  Error.stackTraceLimit = before;
  for (const [, caller, where, line] of lines.map((text) => FRAME.exec(text)).filter(Boolean)) {
    const file = where.startsWith('file:') ? fileURLToPath(where) : where;
    // Outside of a function: a file that is loaded.
    const isLoading = caller === undefined || caller === 'Object.<anonymous>';
    if (file !== __filename) yield { file, line: Number(line), isLoading };
  }
}

// The line of the test file that declares a test through a helper; nothing where another file does it by itself.
function declaringLine() {
  for (const frame of ownFrames()) {
    if (frame.file === file) return frame.line;
    if (frame.isLoading) return undefined;
  }
  return undefined;
}

function change(Test) {
  const { createSubtest, runInAsyncScope } = Test;
  Test.createSubtest = function (...words) {
    const made = apply(createSubtest, this, words);
    if (file && made.loc?.file && made.loc.file !== file) {
      const line = this.loc?.file === file ? this.loc.line : declaringLine();
      if (line !== undefined) Object.assign(made.loc, { file, line });
    }
    return made;
  };
  Test.runInAsyncScope = function (call, self, ...words) {
    // The whole run has no parent.
    const run = () => apply(call, self, words);
    return apply(runInAsyncScope, this, [this.parent ? () => callLimited(run) : run]);
  };
}

function watchEnd(Test) {
  const { run } = Test;
  let running = 0;
  Test.run = function (...words) {
    const ended = apply(run, this, words);
    if (!this.parent) return ended;
    running += 1;
    awaitsMore();
    const count = () => {
      running -= 1;
      if (running === 0) awaitsEnd();
    };
    ended.then(count, count);
    return ended;
  };
}

// The class of tests is seen when the first one is made.
const hook = createHook({
  init(id, type, trigger, resource) {
    if (typeof resource?.createSubtest !== 'function') return;
    hook.disable();
    let prototype = Object.getPrototypeOf(resource);
    while (!Object.hasOwn(prototype, 'createSubtest')) prototype = Object.getPrototypeOf(prototype);
    change(prototype);
    // Not the process that starts one for each file.
    if (isMainThread && !process.execArgv.includes('--test')) watchEnd(prototype);
  },
}).enable();
