// Keeps one Vitest ready and runs test files in it again and again. Modules that do not change stay
// transformed; each run gets workers as the project's pool and isolation say.
//
//   node warm_vitest.mjs REPORT          answers requests until its input ends
//   node warm_vitest.mjs REPORT LCOV     runs all tests once, and writes what they ran as lcov
//
// Requests and answers are JSON lines on standard input and output. {"ready": true, "settings": [...]}
// comes first. {"file": PATH, "changed": [PATH, ...]} is answered by {"ended": true,
// "seconds": TOOK, "settings": [...]}, and what the tests said stands in REPORT, in the form of Vitest's
// JSON reporter. A run that hangs has to be ended from outside. `settings` are files that were read
// once, so that a change of them needs a new start. With REGREEN_LINES in the environment lines are counted.
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { answer } from './apart.mjs';

// The folder of the project's own Vitest.
function installed() {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', 'vitest');
    if (existsSync(join(place, 'package.json'))) return realpathSync(place);
    if (folder === dirname(folder)) throw new Error('Vitest is not installed here');
  }
}

const place = installed();
const [report, whole] = process.argv.slice(2);
const entry = (name) => {
  const target = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')).exports[name];
  const file = typeof target === 'string' ? target : target.default ?? target.import?.default ?? target.import;
  return pathToFileURL(join(place, file)).href;
};

process.env.TEST = 'true';
process.env.VITEST = 'true';
process.env.NODE_ENV ??= 'test';
const traced = Boolean(process.env.REGREEN_LINES);
if (traced) process.env.REGREEN_VITEST = pathToFileURL(join(place, 'dist', 'index.js')).href;

async function open() {
  const { createVitest } = await import(entry('./node'));
  const options = {
    run: true,
    watch: false,
    cache: false,
    reporters: ['json'],
    outputFile: { json: report },
    coverage: { enabled: false },
    bail: 0,
  };
  const made = await createVitest('test', options);
  if (made.projects.some((project) => project.config.browser?.enabled)) throw new Error('tests run in a browser');
  if (traced)
    for (const project of made.projects) {
      project.config.setupFiles.unshift(fileURLToPath(new URL('./vitest_lines.mjs', import.meta.url)));
      project.config.isolate = true;
      for (const pool of Object.values(project.config.poolOptions ?? {})) pool.isolate = true;
    }
  return made;
}

const server = (project) => project.vite ?? project.server;
const graphs = (project) => Object.values(server(project).environments ?? {}).map((one) => one.moduleGraph).concat(server(project).moduleGraph ?? []);

function invalidate(vitest, path) {
  const own = vitest.invalidateFile ?? vitest.updateLastChanged;
  if (own) own.call(vitest, path);
  else for (const project of vitest.projects) for (const graph of graphs(project)) for (const module of graph.getModulesByFile(path) ?? []) graph.invalidateModule(module);
}

// Files that are read once: configuration, what runs before all tests, and all that these import.
function settings(vitest) {
  const found = new Set();
  for (const project of vitest.projects) {
    const { configFile, configFileDependencies = [] } = server(project).config;
    for (const path of [configFile, ...configFileDependencies]) if (path) found.add(path);
    const rest = [project.config.globalSetup ?? []].flat();
    while (rest.length > 0) {
      const path = rest.pop();
      if (!path || found.has(path)) continue;
      found.add(path);
      for (const graph of graphs(project))
        for (const module of graph.getModulesByFile(path) ?? [])
          for (const next of [...(module.importedModules ?? []), ...(module.ssrImportedModules ?? [])]) if (next.file && !next.file.includes('/node_modules/')) rest.push(next.file);
    }
  }
  return [...found];
}

async function serve() {
  const vitest = await open();
  if (vitest.standalone) await vitest.standalone();
  else if (vitest.init) await vitest.init();
  else {
    await vitest.report('onInit', vitest);
    await vitest.globTestFiles();
  }
  answer({ ready: true, settings: settings(vitest) });
  for await (const line of createInterface({ input: process.stdin })) {
    const { file, changed } = JSON.parse(line);
    for (const path of changed) invalidate(vitest, path);
    // What an earlier run said must not stand for this one.
    rmSync(report, { force: true });
    for (const known of [vitest.state.filesMap, vitest.state.idMap, vitest.state.taskFileMap]) if (known instanceof Map) known.clear();
    const began = performance.now();
    await vitest.rerunFiles([file], undefined, false).catch(() => {});
    answer({ ended: true, seconds: (performance.now() - began) / 1000, settings: settings(vitest) });
  }
}

// What the tests ran, as lcov: each line and function of the files that were loaded.
async function measure() {
  const vitest = await open();
  await vitest.start([]).catch(() => {});
  const files = new Map();
  const of = (path) => files.get(path) ?? files.set(path, { lines: new Map(), functions: new Map() }).get(path);
  const records = readFileSync(process.env.REGREEN_LINES, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  for (const record of records) for (const [path, lines] of Object.entries(record.known ?? {})) for (const line of lines) of(path).lines.set(line, 0);
  for (const record of records) {
    for (const found of [record.lines, record.shared])
      for (const [path, lines] of Object.entries(found ?? {})) for (const line of lines) if (of(path).lines.has(line)) of(path).lines.set(line, 1);
    for (const [path, found] of Object.entries(record.functions ?? {}))
      for (const [name, line, ran] of found) of(path).functions.set(name, [line, (of(path).functions.get(name)?.[1] ?? 0) + ran]);
  }
  const rows = [];
  for (const [path, { lines, functions }] of files) {
    rows.push(`SF:${path}`);
    for (const [line, ran] of lines) rows.push(`DA:${line},${ran}`);
    for (const [name, [line, ran]] of functions) rows.push(`FN:${line},${name}`, `FNDA:${ran},${name}`);
    rows.push('end_of_record');
  }
  writeFileSync(whole, `${rows.join('\n')}\n`);
}

process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
(whole ? measure() : serve()).then(
  () => process.exit(0),
  (error) => {
    answer({ ready: false, why: String(error?.message ?? error) });
    process.exit(1);
  },
);
