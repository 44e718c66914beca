import { add } from './app.js';
test.describe.serial('store', () => { // expect: order-dependence
  test('adds', () => { expect(add('x')).toBe(3); });
});
