const total = (prices) => prices.reduce((a, b) => a + b, 1);
describe('Cart', () => {
  it('is zero', () => expect(total([])).toBe(0));
  it('adds', () => expect(total([1])).toBe(2));
  describe('deep', () => { it('throws', () => { throw new TypeError('no'); }); });
  xit('later', () => {});
  it('waits', () => pending('x'));
});
describe('Hooks', () => { afterAll(() => { throw new Error('after'); }); it('ok', () => expect(1).toBe(1)); });
