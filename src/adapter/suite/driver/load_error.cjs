// What a test runner for Node.js prints where it ends before a test ran: a file that does not load.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const util = require('node:util');

const MESSAGE_LIMIT = 4096;
const STACK_LIMIT = 16384;

// The file whose loading went wrong: the outermost one of the project that the text names.
function fileIn(text, root) {
  const own = [];
  for (const [, file] of text.matchAll(/(?:file:\/\/)?(\/[^\s:()'"]+\.[cm]?[jt]sx?)\b/g)) {
    if (file.startsWith(root + path.sep) && !file.includes('/node_modules/') && fs.existsSync(file)) own.push(file);
  }
  return own.at(-1);
}

function recordOf(text, file) {
  const [, name, message] = /^(?:.*?: )??(\w*Error)(?: \[\w+\])?: (.*)$/m.exec(text) ?? [];
  // The place of a syntax error stands above it, and is no frame.
  const stack = text.replace(/^(?:.*: )?((?:file:\/\/)?\/[^\s:]+:\d+)$/m, '    at $1:1');
  return {
    names: [],
    file,
    status: 'failed',
    ms: 0,
    class: name ?? 'Error',
    message: (message ?? text.trim().split('\n')[0]).slice(0, MESSAGE_LIMIT),
    stack: stack.slice(0, STACK_LIMIT),
  };
}

// Calls `found` with the error if the process fails before the returned function was called. `current`
// is the file that is being loaded, where the runner says so.
exports.watch = (root, current, found) => {
  const { error } = console;
  let text = '';
  const note = (reason) => (text += `${reason?.stack ?? util.format(reason)}\n`);
  console.error = (...words) => {
    text += `${util.format(...words)}\n`;
    error.apply(console, words);
  };
  const ended = (code) => {
    const file = current() ?? fileIn(text, root);
    if (code !== 0 && text && file) found(recordOf(text, file));
  };
  process.on('uncaughtExceptionMonitor', note);
  process.once('exit', ended);
  return () => {
    console.error = error;
    process.off('uncaughtExceptionMonitor', note);
    process.off('exit', ended);
  };
};
