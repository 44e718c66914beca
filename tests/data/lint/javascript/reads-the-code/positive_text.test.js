import { price } from './app.js';
test('text', () => {
  expect(price.toString()).toContain('count'); // expect: reads-the-code
});
