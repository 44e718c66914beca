import { load } from './app.js';
test('loads', () => {
  const row = load('x');
  if (row) { // expect: conditional-assertion
    expect(row.name).toBe('x');
  }
});
