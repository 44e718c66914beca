beforeEach(() => { jest.useFakeTimers(); });
afterEach(() => { jest.useRealTimers(); });
test('a', () => { expect(f(2)).toBe(4); });
function f(x) { return x * 2; }
