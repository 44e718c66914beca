// Calls functions of one module and reports the result of each call, as a literal.
//
// One request as a JSON line on standard input:
// {"path": FILE, "root": DIR, "bindings": [[LOCAL, NAME]], "calls": [{"callee", "arguments": [TEXT]}],
//  "trace": BOOL, "reverse": BOOL, "limit": SECONDS}
// NAME "default" means the default export. One answer as a JSON line per call on standard output,
// with its index, then {"end": true}.
//
// A request with "texts", each the whole module with one change, is answered with a line per text:
// {"index", "noticed": [INDEX]}, the calls that give something else than on the module as it is.
//
// Calls run in a thread per function, or per route of requests, with modules of its own, and are watched: what opens a file,
// uses the network, starts a process, reads the clock or random numbers, or prints is refused with
// a reason, and so is what takes too long.
import { createInterface } from 'node:readline';
import Module, { createRequire, register, syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Session } from 'node:inspector';
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, workerData, Worker } from 'node:worker_threads';

import { formatOf, isNative, isTyped, linesOf, stripper } from './observe_types.mjs';

const LOADING = 20000;
const LITERAL = 2000;
const TEXT = 1000;
const ELEMENTS = 60;
const CONSUMED = 200;
const MARKS = 400;
const HANGS = 3;
const HANGING = 400;
const MACHINE = 'asks about its machine';

class Refused extends Error {}
class NoLiteral extends Error {}

const watch = { active: false, reason: null, request: false };

function refuse(reason) {
  watch.reason ??= reason;
  throw new Refused(reason);
}

// Modules that a call loads lazily are read from files, and may be.
function loading() {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 60;
  const stack = new Error().stack;
  Error.stackTraceLimit = limit;
  return /node:internal\/modules\//.test(stack);
}

// The client and the application of a request may do what a handler may not: they listen and connect.
function answering() {
  if (!watch.request) return false;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 60;
  const frames = new Error().stack.split('\n');
  Error.stackTraceLimit = limit;
  return !frames.some((frame) => frame.includes(`${workerData.root}/`) && !frame.includes('/node_modules/'));
}

// Packages ask for settings wherever they are called: Express does when an application is made.
function asksForPackage() {
  const frames = new Error().stack.split('\n').slice(1);
  const caller = frames.find((frame) => !frame.includes('node:') && !frame.includes(import.meta.url.replace('file://', '')));
  return watch.request && Boolean(caller?.includes('/node_modules/'));
}

function guard(owner, name, reason) {
  const original = owner[name];
  if (typeof original !== 'function') return;
  const guarded = function (...values) {
    const isAsked = reason === MACHINE && asksForPackage();
    if (watch.active && !loading() && !answering() && !isAsked) refuse(reason);
    return new.target ? Reflect.construct(original, values, new.target === guarded ? original : new.target) : Reflect.apply(original, this, values);
  };
  guarded.prototype = original.prototype;
  try {
    Object.defineProperty(owner, name, { value: guarded, configurable: true, writable: true });
  } catch {
    // What cannot be replaced is left to the protection of the process.
  }
}

function guardAll(owner, reason) {
  for (const name of Object.keys(owner)) if (!/^[A-Z]|^constants$/.test(name)) guard(owner, name, reason);
}

function guardDate() {
  const Original = Date;
  const now = Original.now;
  globalThis.Date = new Proxy(Original, {
    construct(target, values, self) {
      if (values.length === 0 && watch.active && !answering()) refuse('reads the clock');
      return Reflect.construct(target, values, self);
    },
    apply(target, self, values) {
      if (watch.active && !answering()) refuse('reads the clock');
      return Reflect.apply(target, self, values);
    },
  });
  Original.now = () => (watch.active && !answering() ? refuse('reads the clock') : now());
  Original.prototype.constructor = globalThis.Date;
}

function guardWorld() {
  const require = createRequire(import.meta.url);
  const files = require('node:fs');
  guardAll(files, 'opens a file');
  guardAll(files.promises, 'opens a file');
  const modules = {
    net: 'uses the network', http: 'uses the network', https: 'uses the network', http2: 'uses the network',
    tls: 'uses the network', dgram: 'uses the network', dns: 'uses the network',
    child_process: 'starts or ends processes', cluster: 'starts or ends processes',
    os: MACHINE, v8: 'reaches below JavaScript', vm: 'reaches below JavaScript',
  };
  for (const [name, reason] of Object.entries(modules)) guardAll(require(`node:${name}`), reason);
  guardAll(require('node:dns').promises, 'uses the network');
  guard(require('node:net').Socket.prototype, 'connect', 'uses the network');
  guard(require('node:worker_threads'), 'Worker', 'starts a thread');
  const crypto = require('node:crypto');
  for (const name of ['randomBytes', 'randomUUID', 'randomInt', 'randomFillSync', 'randomFill', 'getRandomValues', 'generateKeyPairSync', 'generateKeySync'])
    guard(crypto, name, 'uses random numbers');
  for (const name of ['getRandomValues', 'randomUUID']) guard(crypto.webcrypto, name, 'uses random numbers');
  guard(Math, 'random', 'uses random numbers');
  guardDate();
  guard(performance, 'now', 'reads the clock');
  for (const name of ['hrtime', 'uptime', 'cpuUsage']) guard(process, name, 'reads the clock');
  for (const name of ['exit', 'kill', 'abort', 'reallyExit']) guard(process, name, 'starts or ends processes');
  for (const name of ['cwd', 'memoryUsage', 'getuid']) guard(process, name, MACHINE);
  for (const name of ['chdir', 'umask', 'emitWarning', 'on', 'once', 'binding', 'dlopen']) guard(process, name, 'changes the process');
  guardAll(console, 'prints');
  guard(process.stdout, 'write', 'prints');
  guard(process.stderr, 'write', 'prints');
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) guard(globalThis, name, 'waits for a timer');
  guard(globalThis, 'fetch', 'uses the network');
  const environment = process.env;
  process.env = new Proxy(environment, {
    get: (target, name) => (watch.active && typeof name === 'string' && name !== 'NODE_DEBUG' && !loading() && !answering() && !asksForPackage() ? refuse('reads the environment') : target[name]),
    set: (target, name, value) => (watch.active ? refuse('changes the environment') : ((target[name] = value), true)),
  });
  // What depends on the platform differs on another one.
  if (workerData.reverse) {
    const platform = process.platform === 'win32' ? 'linux' : 'win32';
    const own = process.platform;
    Object.defineProperty(process, 'platform', { get: () => (watch.active && !loading() ? platform : own), enumerable: true, configurable: true });
  }
  syncBuiltinESMExports();
}

const text = (value) => JSON.stringify(value).replace(/\u2028/g, '\\u2028').replace(/\u2029/g, '\\u2029');
const TYPED = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array];

function key(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__' ? name : name === '__proto__' ? '["__proto__"]' : text(name);
}

function literal(value, depth = 0, around = []) {
  const inner = (one) => literal(one, depth + 1, [...around, value]);
  if (value === undefined || value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'bigint') return value.toString().length < 400 ? `${value}n` : fail('it is a very large number');
  if (typeof value === 'string') return value.length > TEXT ? fail('it is a long text') : text(value);
  if (typeof value !== 'object') fail(`a ${typeof value} cannot be written as a literal`);
  if (depth > 8 || around.includes(value)) fail('it is nested too deeply');
  const kind = Object.getPrototypeOf(value);
  const many = Array.isArray(value) || ArrayBuffer.isView(value) ? value.length : value.size ?? Object.keys(value).length;
  if (many > ELEMENTS) fail('it has many elements');
  if (Object.getOwnPropertySymbols(value).length) fail('it has symbols');
  if (kind === Array.prototype) {
    if (Object.keys(value).length !== value.length) fail('it is an array with holes or names');
    return `[${value.map(inner).join(', ')}]`;
  }
  if (kind === Date.prototype) return `new Date(${Number.isNaN(value.getTime()) ? 'NaN' : value.getTime()})`;
  if (kind === RegExp.prototype) return value.lastIndex === 0 ? value.toString() : fail('it is a used regular expression');
  if (kind === Map.prototype) return value.size ? `new Map([${[...value].map(([k, v]) => `[${inner(k)}, ${inner(v)}]`).join(', ')}])` : 'new Map()';
  if (kind === Set.prototype) return value.size ? `new Set([${[...value].map(inner).join(', ')}])` : 'new Set()';
  if (Buffer.isBuffer(value)) return `Buffer.from([${[...value].join(', ')}])`;
  const typed = TYPED.find((one) => kind === one.prototype);
  if (typed) return `new ${typed.name}([${[...value].map(inner).join(', ')}])`;
  if (kind !== Object.prototype && kind !== null) fail(`an object of ${kind.constructor?.name ?? 'its own kind'} cannot be written as a literal`);
  const parts = Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, one]) => {
    if (!('value' in one) || !one.enumerable) fail('it has computed properties');
    return `${key(name)}: ${inner(one.value)}`;
  });
  const plain = parts.length ? `{ ${parts.join(', ')} }` : '{}';
  return kind === null ? `Object.assign(Object.create(null), ${plain})` : plain;
}

function fail(why) {
  throw new NoLiteral(why);
}

const evaluate = (source, given = [], names = [], values = []) =>
  new Function(...names, '__given', `"use strict"; return (function () { return (${source}\n); })(...__given);`)(...values, given);

// The arguments of a call, each of which may be one before it, `arguments[0]`, or made by what the module exports.
const evaluateAll = (sources, ...scope) => sources.reduce((given, source) => [...given, evaluate(source, given, ...scope)], []);

// The literal of a value, proven to mean the same value.
function written(value) {
  const found = literal(value);
  if (found.length > LITERAL) fail('its literal is long');
  if (!isDeepStrictEqual(value, evaluate(found))) fail('its literal does not compare equal to it');
  return found;
}

// How a result is observed, and the literal of what is seen: itself, else its text, its elements or its
// properties.
function result(value, way) {
  const prototype = value !== null && typeof value === 'object' ? Object.getPrototypeOf(value) : Object.prototype;
  // A prototype that is written as an object has the constructor of objects.
  const isBare = typeof prototype?.constructor !== 'function' || (prototype.constructor === Object && prototype !== Object.prototype);
  // Names beside its elements are compared as those of an object.
  const isNamed = Array.isArray(value) && Object.keys(value).length > value.length;
  if ((isBare || isNamed) && way === 'plain') return { value: written({ ...value }), way: 'attributes' };
  try {
    return { value: written(value), way };
  } catch (error) {
    const kind = value !== null && typeof value === 'object' ? Object.getPrototypeOf(value) : null;
    const isOwn = kind !== null && kind !== Object.prototype && typeof kind.constructor === 'function' && !isBuiltIn(kind.constructor);
    if (!(error instanceof NoLiteral) || way !== 'plain' || !isOwn) throw error;
    if (value.toString !== Object.prototype.toString) return { value: written(String(value)), way: 'text' };
    if (typeof value[Symbol.iterator] === 'function') return { value: written(elements(value)), way: 'list' };
    if (Object.keys(value).length === 0) throw error;
    return { value: written({ ...value }), way: 'attributes' };
  }
}

function elements(value) {
  const list = [];
  for (const one of value) if (list.push(one) > CONSUMED) refuse('yields without an end in sight');
  return list;
}

const isBuiltIn = (constructor) => /\{\s*\[native code\]\s*\}/.test(Function.prototype.toString.call(constructor));

function coverage(session, urls, source, origin) {
  let scripts = [];
  session.post('Profiler.takePreciseCoverage', (error, answer) => {
    scripts = answer?.result ?? [];
  });
  const found = scripts.find((one) => urls.includes(one.url));
  // What runs while a file is loaded starts at its beginning.
  const runs = (one) => one.ranges[0].startOffset > 0 && one.ranges[0].count > 0;
  const start = join(workerData.root, '/');
  const reached = scripts
    .filter((one) => one.functions.some(runs))
    .map((one) => decodeURI(one.url.replace('file://', '').split('?')[0]))
    .filter((file) => file.startsWith(start) && !file.includes('node_modules'))
    .map((file) => file.slice(start.length));
  const functions = (found?.functions ?? []).filter((one) => one.ranges[0].count > 0);
  const ranges = functions.flatMap((one) => one.ranges);
  const marks = ranges.map((one) => `${one.count > 0 ? 'r' : 'x'}${one.startOffset}-${one.endOffset}`);
  const lines = [];
  let offset = 0;
  source.split('\n').forEach((line, index) => {
    // What closes the block before it does not count: in `} else if (a) {` the condition runs.
    const code = line.replace(/^[\s})\];,]+/, '') || line.trimStart();
    const place = offset + line.length - code.length;
    const around = ranges.filter((one) => one.startOffset <= place && place < one.endOffset);
    around.sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
    if (line.trim() && around[0]?.count > 0) lines.push(...(origin ? (origin[index] ?? []) : [index + 1]));
    offset += line.length + 1;
  });
  return { lines: origin ? [...new Set(lines)].sort((a, b) => a - b) : lines, marks: [...new Set(marks)].slice(0, MARKS), reached };
}

// Whether code of the repository threw it by a statement of its own.
function explicit(error, sources) {
  const frame = /\n\s+at .*?(file:\/\/[^\s)]+|\/[^\s):]+):(\d+):\d+\)?/.exec(String(error?.stack ?? ''));
  if (!frame) return false;
  // A text that is tried has the place of the file that it is of.
  const file = frame[1].replace('file://', '').replace(/\?text=\d+$/, '');
  if (!file.startsWith(workerData.root) || file.includes('node_modules')) return false;
  sources[file] ??= readFileSync(file, 'utf8').split('\n');
  return /\bthrow\b|Error\(/.test(sources[file][Number(frame[2]) - 1] ?? '');
}

const AsyncFunction = (async () => {}).constructor;

// The statements that make a call, or read a property, after those on the same object that come first.
function callOf({ callee, setup = [] }) {
  const dot = callee.lastIndexOf('.');
  if (dot < 0) return callee.startsWith('new ') ? `return ${callee}(...__given);` : `return (${callee})(...__given);`;
  const wait = isRequest({ callee }) ? 'await ' : '';
  const steps = setup.map((one) => `${wait}__subject.${one};`).join(' ');
  const member = `__subject${callee.slice(dot)}`;
  return `let __subject;
    try { __subject = ${callee.slice(0, dot)}; } catch { __refuse('its constructor throws'); }
    ${steps} const __member = ${member};
    return typeof __member === 'function' ? ${member}(...__given) : __member;`;
}

// Whether a call asks an application by its client.
const isRequest = ({ callee }) => callee.startsWith('request(');

// Calls of one function share a thread, and requests of one route: what hangs takes the others along.
function groupOf(call) {
  if (!isRequest(call)) return call.callee.split('(')[0];
  return `${call.callee}${call.arguments[0]}`.split('?')[0].replace(/\/[^/]*$/, '');
}

// What a test compares of an answer.
function answerOf({ status, type, body, text, headers }) {
  if (status >= 500) refuse(`is answered with status ${status}`);
  if (status >= 300 && status < 400) return { status, 'headers.location': headers.location };
  if (/json/.test(type)) return { status, body };
  // What a framework says of a bad request differs from version to version.
  return status >= 400 ? { status } : { status, text };
}

async function invoke(call, names, values) {
  watch.reason = null;
  let given, before, run;
  try {
    const made = isRequest(call) && call.setup?.length > 0 ? AsyncFunction : Function;
    run = new made(...names, '__refuse', '__given', `"use strict"; ${callOf(call)}`);
  } catch (error) {
    return { refused: `the call cannot be written: ${error.name}` };
  }
  try {
    given = evaluateAll(call.arguments, names, values);
    before = evaluateAll(call.arguments, names, values);
  } catch (error) {
    return { refused: `an argument cannot be made: ${error.name}` };
  }
  const globals = Object.getOwnPropertyNames(globalThis).length;
  let record = {};
  let way = 'plain';
  try {
    let value;
    watch.active = true;
    try {
      watch.request = isRequest(call);
      value = run(...values, refuse, given);
      if (watch.request) {
        way = 'members';
        value = answerOf(await value);
      } else if (value instanceof Promise) {
        way = 'await';
        value = await value;
      } else if (value !== null && typeof value === 'object' && typeof value.next === 'function' && typeof value[Symbol.iterator] === 'function') {
        way = 'list';
        value = elements(value);
      }
    } finally {
      watch.active = false;
    }
    record = result(value, way);
  } catch (error) {
    if (error instanceof NoLiteral) record = { refused: `its result is left out: ${error.message}` };
    else if (error instanceof Refused) record = { refused: error.message };
    else if (error instanceof RangeError && /call stack/.test(error.message)) record = { refused: 'uses too much memory or stack' };
    else if (error instanceof Error && /^\w+$/.test(error.name ?? '')) {
      record = { raised: error.name, message: String(error.message).slice(0, TEXT), explicit: explicit(error, {}), way };
    } else record = { refused: 'what it throws is no error' };
  }
  if (watch.reason) return { refused: watch.reason };
  if (Object.getOwnPropertyNames(globalThis).length !== globals) return { refused: 'changes state outside of itself' };
  if (record.refused) return record;
  record.after = [];
  record.needs = [];
  // Beside a result or an error, a change that cannot be written down is not asserted.
  const isAsserted = record.raised !== undefined || (record.value !== undefined && record.value !== 'undefined');
  for (const [index, now] of given.entries()) {
    if (now === null || typeof now !== 'object' || isDeepStrictEqual(now, before[index])) continue;
    try {
      record.after.push([index, written(now)]);
    } catch {
      if (!isAsserted) return { refused: 'changes an argument in a way that cannot be written down' };
    }
  }
  return record;
}

// What a call could change for the next one: plain values that the module exports.
function stateOf(space) {
  const seen = [];
  for (const one of [space, space.default ?? {}])
    for (const [name, value] of Object.entries(Object(one)))
      try {
        if (typeof value !== 'function') seen.push([name, literal(value)]);
      } catch {
        // What cannot be written is not compared.
      }
  return JSON.stringify(seen);
}

const memberOf = (space, name) => (name === 'default' ? space.default : space[name] ?? space.default?.[name]);

// The values of names: of the module under test, and with a path before `#` of another one.
const boundValues = (bindings, space, others) =>
  bindings.map(([, name]) => {
    const [file, member] = name.split('#');
    if (!member) return memberOf(space, name);
    return join(workerData.root, file) === workerData.path ? memberOf(space, member) : others.get(name);
  });

// What other modules have of the names that calls use.
async function otherValues({ root, bindings, calls }) {
  const texts = calls.map(([, call]) => [...call.arguments, call.callee, ...(call.setup ?? [])].join(' ')).join(' ');
  const found = new Map();
  for (const [name, place] of bindings) {
    const [path, member] = place.split('#');
    if (!member || !texts.includes(name)) continue;
    try {
      // What has no ending is a package.
      const target = /\.\w+$/.test(path) ? join(root, path) : createRequire(join(root, 'package.json')).resolve(path);
      found.set(place, memberOf(await import(pathToFileURL(target).href), member));
    } catch {
      // A call that uses it is refused.
    }
  }
  return found;
}

function isBound(call, bindings, values) {
  const subject = /^(?:\(?new )?([\w$]+)/.exec(call.callee)?.[1];
  return typeof values[bindings.findIndex(([local]) => local === subject)] === 'function';
}

// Loads a new instance of the module with another text; CommonJS is compiled, all else is imported.
function loader(path, url) {
  if (createRequire(url).cache[path])
    return (text) => {
      const made = new Module(path);
      Object.assign(made, { filename: path, paths: Module._nodeModulePaths(dirname(path)) });
      made._compile(text, path);
      return { ...Object(made.exports), default: made.exports };
    };
  register('./observe_types.mjs', import.meta.url, { data: { texts: workerData.texts, format: formatOf(path) } });
  return (text, index) => import(`${url}?text=${index}`);
}

// What a test of a call would compare.
const compared = ({ value, way, raised, message, explicit: own, after, refused }) => JSON.stringify([value, way, raised, own ? message : '', after, refused]);

// Makes all calls on each text, and tells which of them notice that it is another one.
async function probe(load, original) {
  const { bindings, calls, texts, progress } = workerData;
  const others = await otherValues(workerData);
  const names = bindings.map(([local]) => local);
  const made = async (values, call) => (isBound(call, bindings, values) ? invoke(call, names, values) : { refused: 'it is not exported' });
  const usual = new Map();
  for (const [index, call] of calls) {
    const [one, two] = [await made(original, call), await made(original, call)];
    if (!one.refused && compared(one) === compared(two)) usual.set(index, one);
  }
  parentPort.postMessage({ ready: true });
  for (const [index, text] of texts) {
    let values = [];
    try {
      values = boundValues(bindings, await load(text, index), others);
    } catch {
      // It cannot be loaded, which every test notices.
    }
    for (const [at, call] of calls.filter(([one]) => usual.has(one))) {
      progress[0] = at;
      const known = usual.get(at);
      const now = await made(values, call);
      if (compared({ ...now, explicit: known.explicit }) !== compared(known)) parentPort.postMessage({ index, noticed: at });
    }
    parentPort.postMessage({ index, tried: true });
  }
  parentPort.postMessage({ done: true });
}

async function work() {
  guardWorld();
  const { path, bindings, calls, trace, texts } = workerData;
  const url = pathToFileURL(path).href;
  let source = trace ? readFileSync(path, 'utf8') : '';
  let origin;
  let space;
  try {
    if (isTyped(path) && !isNative()) {
      const strip = stripper(path);
      process.setSourceMapsEnabled(true);
      register('./observe_types.mjs', import.meta.url, { data: { file: path } });
      if (trace) {
        const made = strip(path, source);
        source = made.text;
        origin = linesOf(made.map);
      }
    }
    space = await import(url);
  } catch (error) {
    parentPort.postMessage({ problem: `its module cannot be imported: ${String(error?.message ?? error).slice(0, 200)}` });
    return;
  }
  const values = boundValues(bindings, space, await otherValues(workerData));
  if (texts) return probe(loader(path, url), values);
  const session = new Session();
  let script = url;
  if (trace) {
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    session.post('Profiler.takePreciseCoverage', (error, answer) => {
      const known = answer?.result?.map((one) => one.url) ?? [];
      script = known.find((one) => one === url || one === path) ?? url;
    });
  }
  const before = stateOf(space);
  parentPort.postMessage({ ready: true });
  for (const [index, call] of calls) {
    let record;
    if (!isBound(call, bindings, values)) record = { refused: 'it is not exported' };
    else {
      record = await invoke(call, bindings.map(([local]) => local), values);
      if (trace && !record.refused) {
        Object.assign(record, coverage(session, [script, path], source, origin));
      } else if (trace) session.post('Profiler.takePreciseCoverage', () => {});
    }
    parentPort.postMessage({ index, ...record });
  }
  parentPort.postMessage({ done: true, changed: stateOf(space) !== before });
}

function startWorker(data) {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: data,
    stdout: true,
    stderr: true,
    env: process.env,
    resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 4 },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

// Runs calls in threads until each has an answer.
async function serve(request, calls, tell) {
  const records = new Map();
  let left = calls;
  let crashes = 0;
  while (left.length) {
    const worker = startWorker({ ...request, calls: left });
    let done = false;
    let hung = false;
    let problem = null;
    let crowded = false;
    await new Promise((resolve) => {
      let timer;
      const wait = (limit) => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          hung = true;
          worker.terminate();
        }, limit);
      };
      wait(LOADING);
      worker.on('message', (record) => {
        wait(request.limit * 1000);
        if (record.problem) problem = record.problem;
        else if (record.done) {
          done = true;
          if (record.changed) for (const [index] of calls) if (!records.get(index)?.refused) records.set(index, { index, refused: 'changes state outside of itself' });
          worker.terminate();
        } else if (record.index !== undefined) records.set(record.index, record);
      });
      worker.on('error', (error) => {
        crowded ||= error?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      });
      worker.on('exit', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    if (problem) for (const [index] of left) records.set(index, { index, refused: problem });
    left = left.filter(([index]) => !records.has(index));
    if (left.length && !done) {
      const [index] = left[0];
      const why = hung ? `takes longer than ${request.limit} s` : crowded ? 'uses too much memory or stack' : 'ends the process';
      records.set(index, { index, refused: why });
      left = left.slice(1);
      // One that hangs or dies again and again is not asked for ever.
      crashes += 1;
      const others = hung || crowded ? why : 'was not called, because calls before it ended the process';
      for (const [one] of crashes < HANGS ? [] : left) records.set(one, { index: one, refused: others });
      left = crashes < HANGS ? left : [];
    }
  }
  for (const [index] of calls) tell(records.get(index));
}

// Tries the texts, as many at a time as there are `jobs`; a call that hangs notices its text.
async function serveTexts(request, tell) {
  const calls = request.calls.map((call, index) => [index, call]);
  const noticed = request.texts.map(() => []);
  const serveOne = async (left) => {
    while (left.length) {
      const progress = new Int32Array(new SharedArrayBuffer(4));
      const worker = startWorker({ ...request, calls, texts: left, progress });
      const began = performance.now();
      let limit = LOADING;
      let done = false;
      await new Promise((resolve) => {
        let timer;
        const wait = () => {
          clearTimeout(timer);
          timer = setTimeout(() => worker.terminate(), limit);
        };
        wait();
        worker.on('message', (record) => {
          if (record.ready) limit = Math.max(HANGING, performance.now() - began);
          if (record.noticed !== undefined) noticed[record.index].push(record.noticed);
          if (record.tried) tell({ index: left.shift()[0], noticed: noticed[record.index] });
          done ||= Boolean(record.done || record.problem);
          if (done) worker.terminate();
          wait();
        });
        worker.on('error', () => {});
        worker.on('exit', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      // What ends before it has begun cannot tell anything.
      if (done || limit === LOADING) return;
      const [index] = left.shift();
      tell({ index, noticed: [...noticed[index], progress[0]] });
    }
  };
  const parts = Array.from({ length: request.jobs }, () => []);
  request.texts.forEach((text, index) => parts[index % request.jobs].push([index, text]));
  await Promise.all(parts.map(serveOne));
}

async function main() {
  const write = process.stdout.write.bind(process.stdout);
  const tell = (record) => write(`${JSON.stringify(record)}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    if (request.texts) {
      await serveTexts(request, tell);
      tell({ end: true });
      break;
    }
    const groups = new Map();
    request.calls.forEach((call, index) => {
      const name = groupOf(call);
      groups.set(name, [...(groups.get(name) ?? []), [index, call]]);
    });
    const open = [...groups.values()];
    const serveNext = async () => {
      for (let calls = open.shift(); calls; calls = open.shift()) await serve({ ...request }, request.reverse ? [...calls].reverse() : calls, tell);
    };
    await Promise.all([serveNext(), serveNext()]);
    tell({ end: true });
    break;
  }
  process.exit(0);
}

if (isMainThread) main();
else work();
