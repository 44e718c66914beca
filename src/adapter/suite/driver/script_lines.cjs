// From V8's counts of a script to lines of its source, through the source map that the script carries.
const { fileURLToPath } = require('node:url');

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const MAP = /\/\/# sourceMappingURL=data:application\/json[^,]*;base64,([A-Za-z0-9+/=]+)/g;
// What closes the block before it does not say whether a line ran.
const CLOSING = /^[\s})\];,]*/;
// A label decides, and is no code of its own.
const LABEL = /^\s*(case\s.*|default):\s*$/;
const labels = (rows) => new Set(rows.flatMap((row, index) => (LABEL.test(row) ? [index + 1] : [])));

// Places of a map: [line, column] of the text and of the source, all from 0.
function* segments(mappings) {
  let [source, from, at] = [0, 0, 0];
  for (const [line, part] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of part.split(',').filter(Boolean)) {
      const fields = [];
      let [value, shift] = [0, 0];
      for (const digit of segment) {
        const bits = DIGITS.indexOf(digit);
        value += (bits & 31) << shift;
        shift += 5;
        if (bits & 32) continue;
        fields.push(value & 1 ? -(value >> 1) : value >> 1);
        value = shift = 0;
      }
      column += fields[0];
      if (fields.length < 4) continue;
      source += fields[1];
      from += fields[2];
      at += fields[3];
      yield { line, column, source, from, at };
    }
  }
}

function starts(text) {
  const found = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) found.push(at + 1);
  return found;
}

// What Vitest and Jest write before the text of a module, to make a function of it.
const WRAPPERS = [/^'use strict';\s*async \([^)]*\)\s*=>\s*\{\{?/, /^\(\{"Object\.<anonymous>":function\([^)]*\)\{/];

// Where the text of a module begins.
const wrapped = (text) => Math.max(...WRAPPERS.map((wrapper) => wrapper.exec(text)?.[0].length ?? 0));

// The same for a text that is its own source.
function itself(text) {
  const shift = wrapped(text);
  const lines = new Map();
  for (const [index, offset] of starts(text).entries()) {
    const begin = index === 0 ? shift : offset;
    const row = text.slice(begin, text.indexOf('\n', begin) < 0 ? undefined : text.indexOf('\n', begin));
    const least = CLOSING.exec(row)[0].length;
    if (least < row.length && !row.slice(least).startsWith('//')) lines.set(index + 1, [begin + least]);
  }
  return { lines, heads: new Map([...lines].map(([line, [offset]]) => [offset, line])), labels: labels(text.split('\n')) };
}

// For each line of the source, from 1, the places in the script that tell whether it ran.
function tellers(text) {
  const found = [...text.matchAll(MAP)].pop();
  if (!found) return itself(text);
  let map;
  try {
    map = JSON.parse(Buffer.from(found[1], 'base64').toString('utf8'));
  } catch {
    return null;
  }
  const source = map.sourcesContent?.[0];
  if (typeof source !== 'string' || typeof map.mappings !== 'string') return null;
  const rows = source.split('\n');
  const shift = wrapped(text);
  const begin = starts(text);
  const best = new Map();
  const heads = new Map();
  for (const { line, column, source: which, from, at } of segments(map.mappings)) {
    if (which !== 0 || from >= rows.length || line >= begin.length) continue;
    const offset = begin[line] + column + (line === 0 ? shift : 0);
    heads.set(offset, from + 1);
    const least = CLOSING.exec(rows[from])[0].length;
    if (at < least || at >= rows[from].length) continue;
    const known = best.get(from + 1);
    if (!known || at < known.at) best.set(from + 1, { at, offsets: [offset] });
    else if (at === known.at) known.offsets.push(offset);
  }
  return { lines: new Map([...best].map(([line, { offsets }]) => [line, offsets])), heads, labels: labels(rows) };
}

function paint(length, functions) {
  const counts = new Int32Array(length);
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges) counts.fill(Math.min(count, 0x7fffffff), startOffset, endOffset);
  return counts;
}

// Counts in the form of V8's ranges.
function ranges(counts) {
  const found = [];
  for (let start = 0, end = 1; start < counts.length; start = end++) {
    while (end < counts.length && counts[end] === counts[start]) end += 1;
    found.push({ startOffset: start, endOffset: end, count: counts[start] });
  }
  return found;
}

// Turns scripts of one root into lines; `source` gives the text of a script by its id, `keeps` asks for a report.
function createMapper(root, source, keeps) {
  const scripts = new Map();
  const of = ({ scriptId, url }) => {
    if (scripts.has(scriptId)) return scripts.get(scriptId);
    let path = url.replace(/[?#].*$/, '');
    if (path.startsWith('file:'))
      try {
        path = fileURLToPath(path);
      } catch {
        path = '';
      }
    let made = null;
    if (path.startsWith(`${root}/`) && !path.includes('/node_modules/')) {
      const text = source(scriptId);
      const positions = tellers(text);
      if (positions) made = { path, text, ...positions, functions: new Map(), total: keeps ? new Float64Array(text.length) : null };
    }
    scripts.set(scriptId, made);
    return made;
  };
  return {
    // The lines that ran, by path.
    lines(coverage) {
      const found = {};
      for (const one of coverage) {
        const script = of(one);
        if (!script || !one.functions.some(({ ranges }) => ranges.some(({ count }) => count > 0))) continue;
        const counts = paint(script.text.length, one.functions);
        if (keeps) counts.forEach((count, at) => (script.total[at] += count));
        const ran = [...script.lines].filter(([, offsets]) => offsets.some((offset) => counts[offset] > 0)).map(([line]) => line);
        if (ran.length > 0) found[script.path] = [...new Set([...(found[script.path] ?? []), ...ran])].sort((a, b) => a - b);
        for (const { functionName, ranges } of one.functions) {
          const line = script.heads.get(ranges[0].startOffset);
          if (!functionName || line === undefined) continue;
          const key = `${functionName}:${line}`;
          const known = script.functions.get(key);
          script.functions.set(key, [key, line, (known?.[2] ?? 0) + ranges[0].count]);
        }
      }
      return found;
    },
    // By path: lines of code, and named functions with their line and how often they ran.
    all() {
      const of = (one) => Object.fromEntries([...scripts.values()].filter(Boolean).map((script) => [script.path, one(script)]));
      return {
        known: of(({ lines, labels }) => [...lines.keys()].filter((line) => !labels.has(line)).sort((a, b) => a - b)),
        functions: of(({ functions }) => [...functions.values()]),
      };
    },
    // What ran, as V8 reports it, with the text of each script and the lines of its source by offset.
    report() {
      const made = [...scripts.values()].filter(Boolean);
      const result = made.map(({ path, text, heads, total }) => ({
        url: `file://${path}`,
        source: text,
        lines: [...heads].sort(([a], [b]) => a - b),
        functions: [{ functionName: '', ranges: ranges(total) }],
      }));
      return { result };
    },
  };
}

module.exports = { createMapper, segments };
