// One more setup file for Vitest's workers; see script_trace.cjs.
import { createRequire } from 'node:module';

const { createTrace } = createRequire(import.meta.url)('./script_trace.cjs');
const { afterAll, afterEach, beforeEach } = await import(process.env.REGREEN_VITEST);

function namesOf(task) {
  const names = [task.name];
  for (let suite = task.suite; suite; suite = suite.suite) names.unshift(suite.name);
  return names.filter(Boolean);
}

const trace = createTrace();
beforeEach(({ task }) => trace.began(task.file?.filepath ?? '', task.suite ?? null));
afterEach(({ task }) => trace.ended(namesOf(task)));
afterAll(() => trace.closed());
