import { before, describe, it, test } from 'node:test';
import assert from 'node:assert';
import { first, total } from '../src/cart.js';

test('passes', () => assert.equal(total([]), 0));
test('fails with an assertion', () => assert.equal(total([{ price: 3, count: 2 }]), 6));
test('fails with an error', () => first([]));
test('fails with a text', () => {
  throw 'only a text';
});
test('is awaited', async () => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([1, 2], [1, 3]);
});
for (const n of [1, 2]) {
  test(`table of ${n}`, () => assert.equal(total([{ price: n, count: 1 }]), 0));
}
test('größe → ß > "x"', () => assert.ok(false));
test('later', { skip: 'not here' }, () => {});
test('not yet', { todo: true }, () => assert.fail('todo'));
describe('cart', () => {
  it('is empty', () => assert.equal(total([]), 0));
  describe('with one item', () => {
    it('sums', () => assert.equal(total([{ price: 3, count: 2 }]), 6));
  });
});
describe('with a hook that fails', () => {
  before(() => {
    throw new Error('no database');
  });
  it('never runs', () => {});
});
test('parent', async (t) => {
  await t.test('child passes', () => {});
  await t.test('child fails', () => assert.equal(1, 2));
});
