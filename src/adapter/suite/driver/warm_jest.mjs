// Keeps one Jest ready and runs test files in it again and again, in the same process: every run has an
// environment and modules of its own, as Jest gives to each test file.
//
//   node warm_jest.mjs REPORT        answers requests until its input ends
//
// Requests and answers are those of warm_vitest.mjs, and so are the variables; what the tests said
// stands in REPORT, in the form of Jest's JSON report. `grown` asks for a new process.
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answer } from './apart.mjs';

const [report] = process.argv.slice(2);
// One that grew so much is better started anew, in bytes.
const GROWN = 1 << 30;

function installed() {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', 'jest', 'package.json');
    if (existsSync(place)) return createRequire(realpathSync(place));
    if (folder === dirname(folder)) throw new Error('Jest is not installed here');
  }
}

process.env.NODE_ENV ??= 'test';
const require = installed();
const { runCLI } = require('jest');
// With `bail`, Jest ends the process behind a failing test.
const base = { $0: 'jest', json: true, outputFile: report, testLocationInResults: true, runTestsByPath: true, runInBand: true, watchman: false, coverage: false, bail: 0 };

async function open() {
  if (!process.env.REGREEN_LINES) return base;
  const core = createRequire(require.resolve('@jest/core'));
  const { configs } = await core('jest-config').readConfigs({ $0: 'jest', _: [] }, [process.cwd()]);
  if (configs.length !== 1) throw new Error('several projects have setups of their own');
  const own = fileURLToPath(new URL('./jest_lines.cjs', import.meta.url));
  return { ...base, setupFilesAfterEnv: [own, ...configs[0].setupFilesAfterEnv] };
}

// Files that were read once: configuration, transformers, what runs before all tests.
const settings = () => Object.keys(require.cache).filter((path) => !path.includes('/node_modules/'));

async function serve() {
  const options = await open();
  answer({ ready: true, settings: settings() });
  for await (const line of createInterface({ input: process.stdin })) {
    const { file } = JSON.parse(line);
    rmSync(report, { force: true });
    const began = performance.now();
    await runCLI({ ...options, _: [file] }, [process.cwd()]).catch(() => {});
    answer({ ended: true, seconds: (performance.now() - began) / 1000, settings: settings(), grown: process.memoryUsage.rss() > GROWN });
  }
}

process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
serve().then(
  () => process.exit(0),
  (error) => {
    answer({ ready: false, why: String(error?.message ?? error) });
    process.exit(1);
  },
);
