// Runs test files again and again without starting Node.js for each: every run has a thread of its
// own, with modules loaded anew, and the next thread starts while one works. The reporter that this
// process was started with is inherited by every thread.
//
//   REGREEN_CASES=REPORT node --test-reporter=… warm_node.mjs REPORT
//
// Requests and answers are JSON lines on standard input and output: {"ready": true} first, then
// {"file": PATH, "limit": SECONDS} is answered by {"ended": BOOL, "seconds": …}; `ended` is false when
// the thread was stopped at the limit.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

// Written before tests can replace it.
const write = process.stdout.write.bind(process.stdout);
const MEMORY = { maxOldGenerationSizeMb: 2048 };

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

async function serve() {
  let next = start();
  write(`${JSON.stringify({ ready: true })}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    const { file, limit } = JSON.parse(line);
    const worker = next;
    let ended = true;
    // What an earlier run said must not stand for this one.
    rmSync(process.argv[2], { force: true });
    const began = performance.now();
    const stop = setTimeout(() => {
      ended = false;
      worker.terminate();
    }, limit * 1000);
    const gone = new Promise((resolve) => worker.on('exit', resolve));
    worker.postMessage(file);
    next = start();
    await gone;
    clearTimeout(stop);
    write(`${JSON.stringify({ ended, seconds: (performance.now() - began) / 1000 })}\n`);
  }
  process.exit(0);
}

if (isMainThread) serve();
else parentPort.once('message', (file) => import(pathToFileURL(file)));
