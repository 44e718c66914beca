// Runs test files again and again without starting Node.js for each. A file of CommonJS runs in a thread
// that stays, with modules loaded anew and what the run left in the environment and the globals taken back,
// until one changes an object of the language or a library of Node.js; any other file has a thread of its own, and
// the next one starts while it works. The reporter that this process was started with is inherited by every thread.
//
//   REGREEN_CASES=REPORT node --test-reporter=… warm_node.mjs REPORT
//
// Requests and answers are JSON lines on standard input and output: {"ready": true} first, then
// {"file": PATH, "changed": [PATH], "limit": SECONDS} is answered by {"ended": BOOL, "seconds": …}; `ended`
// is false when the thread was stopped at the limit.
import { realpathSync, rmSync } from 'node:fs';
import Module, { createRequire, isBuiltin } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

// Written before tests can replace it.
const write = process.stdout.write.bind(process.stdout);
const MEMORY = { maxOldGenerationSizeMb: 2048 };
// Node.js keeps each test that a thread ran.
const RUNS_OF_A_THREAD = 200;
const NEEDS_IMPORT = ['ERR_REQUIRE_ESM', 'ERR_REQUIRE_ASYNC_MODULE'];
const HOOKS = ['before', 'after', 'beforeEach', 'afterEach'];

function start() {
  const worker = new Worker(new URL(import.meta.url), {
    stdout: true,
    stderr: true,
    resourceLimits: MEMORY,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.on('error', () => {});
  return worker;
}

// What a thread says at the end of a run, or nothing when it is gone.
function run(worker, request) {
  return new Promise((resolve) => {
    const end = (said) => {
      worker.off('message', end).off('exit', gone);
      resolve(said);
    };
    const gone = () => end({});
    worker.on('message', end).on('exit', gone);
    worker.postMessage(request);
  });
}

async function serve() {
  let [worker, next, runs] = [start(), start(), 0];
  const replace = () => {
    worker.terminate();
    [worker, next, runs] = [next, start(), 0];
  };
  write(`${JSON.stringify({ ready: true })}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    const { file, changed, limit } = JSON.parse(line);
    let ended = true;
    const began = performance.now();
    const stop = setTimeout(() => {
      ended = false;
      worker.terminate();
    }, limit * 1000);
    const tryIn = async (request) => {
      // What an earlier run said must not stand for this one.
      rmSync(process.argv[2], { force: true });
      const said = await run(worker, request);
      runs += 1;
      return said;
    };
    if (worker.threadId < 0) replace();
    const isUsed = runs > 0;
    const said = await tryIn({ file, changed });
    // A thread may end by what an earlier run left behind.
    const isUnsure = said.isStale || (!said.isOver && isUsed);
    if (!said.isOver || said.isStale || said.isSpoilt || runs >= RUNS_OF_A_THREAD) replace();
    if (isUnsure && ended) {
      await tryIn({ file });
      replace();
    }
    clearTimeout(stop);
    write(`${JSON.stringify({ ended, seconds: (performance.now() - began) / 1000 })}\n`);
  }
  process.exit(0);
}

// In a thread.

let hasHooks = false;

// The test runner as a file sees it: a hook outside of suites would stay for the files that follow.
function watched(runner) {
  const hook = (name) => (...args) => {
    hasHooks ||= !new Error().stack.includes('(node:internal/test_runner/');
    return runner[name](...args);
  };
  const hooks = Object.fromEntries(HOOKS.map((name) => [name, hook(name)]));
  return new Proxy(runner, { get: (target, name) => hooks[name] ?? target[name] });
}

// Whether a file was loaded as a module of CommonJS. Any other may be in memory still as it was before.
function isLoaded(path) {
  const known = Module._cache[realpathSync(path)];
  return known !== undefined && !types.isModuleNamespaceObject(known.exports);
}

function restore({ environment, globals }) {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  for (const name of Reflect.ownKeys(globalThis)) if (!globals.has(name)) Reflect.deleteProperty(globalThis, name);
  for (const path of Object.keys(Module._cache)) if (!path.endsWith('.node')) delete Module._cache[path];
}

const isObject = (value) => value !== null && ['object', 'function'].includes(typeof value);
const valuesOf = (one) => Object.values(Object.getOwnPropertyDescriptors(one)).map(({ value }) => value);
// The objects of the language and the loaded libraries of Node.js, each with the values that it held at first.
const shared = new Map();

function share(value) {
  for (const one of isObject(value) ? [value, value.prototype] : [])
    if (isObject(one) && one !== globalThis && one !== process && !shared.has(one)) shared.set(one, valuesOf(one));
}

// Whether a run has changed one of them.
const isSpoilt = () =>
  [...shared].some(([one, known]) => {
    const now = valuesOf(one);
    return now.length !== known.length || now.some((value, index) => !Object.is(value, known[index]));
  });

async function serveFiles() {
  const runner = createRequire(import.meta.url)('node:test');
  const [load, own] = [Module._load, watched(runner)];
  valuesOf(globalThis).forEach(share);
  Module._load = (request, ...others) => {
    if (request === 'node:test') return own;
    const loaded = load(request, ...others);
    if (isBuiltin(request)) share(loaded);
    return loaded;
  };
  const state = { environment: { ...process.env }, globals: new Set(Reflect.ownKeys(globalThis)) };
  parentPort.on('message', async ({ file, changed }) => {
    // The thread ends where a test waits for what never comes.
    parentPort.unref();
    // As if Node.js had been started with the file: some start it again.
    process.argv.splice(1, Infinity, file);
    process.emit('regreen:file', file);
    try {
      if (!changed) throw { code: NEEDS_IMPORT[0] };
      createRequire(file)(file);
    } catch (error) {
      // The test runner would take an error for that of a test, and go on.
      if (!NEEDS_IMPORT.includes(error.code)) process.exit(1);
      await import(pathToFileURL(file));
    }
    if (hasHooks) return;
    const isLast = !changed || !isLoaded(file);
    const reported = new Promise((resolve) => process.once('regreen:reported', resolve));
    runner.test('regreen:reported', () => {});
    await reported;
    // It may wait for a timer or a server that the tests have left behind.
    if (isLast) return parentPort.postMessage({ isOver: true, isSpoilt: true });
    const isStale = !changed.every(isLoaded);
    runner.mock.reset();
    runner.mock.timers?.reset();
    restore(state);
    parentPort.ref();
    parentPort.postMessage({ isOver: true, isStale, isSpoilt: isSpoilt() });
  });
}

if (isMainThread) serve();
else serveFiles();
