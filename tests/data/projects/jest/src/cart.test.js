const { total, first } = require('./cart');

test('passes', () => expect(total([])).toBe(0));
test('fails with an assertion', () => expect(total([{ price: 3, count: 2 }])).toBe(6));
test('fails with an error', () => first([]));
test('fails with a text', () => {
  throw 'only a text';
});
test.each([1, 2])('table of %i', (n) => expect(total([{ price: n, count: 1 }])).toBe(0));
test('größe → ß > "x"', () => expect(false).toBe(true));
test.skip('later', () => {});
test.todo('not yet');
describe('cart', () => {
  it('is empty', () => expect(total([])).toBe(0));
  describe('with one item', () => {
    it('sums', () => expect(total([{ price: 3, count: 2 }])).toEqual(6));
  });
});
describe('with a hook that fails', () => {
  beforeAll(() => {
    throw new Error('no database');
  });
  it('never runs', () => {});
});
