import { price } from './app.js';
test('price', () => {
  globalThis.__coverage__['app.js'].s[0] = 1; // expect: writes-coverage
  expect(price(2)).toBe(4);
});
