test('a', () => { expect(f(2)).toBe(4); });
test('b', () => { expect(() => f(3)).toThrow(); });
test('c', () => { expect(f(0)).toBe(0); });
function f(x) { return x * 2; }
