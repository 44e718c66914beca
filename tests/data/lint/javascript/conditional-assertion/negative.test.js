import { load } from './app.js';
test('loads', () => {
  const row = load('x');
  expect(row.name).toBe('x');
  if (process.env.CI) {
    expect(row.slow).toBe(false);
  }
});
test('loads all', () => {
  for (const row of load('y')) expect(row).toBe('y');
});
