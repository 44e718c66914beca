test('a', () => { expect(f(2)).toBe(4); });
test('b', () => { expect(f(null)).toBe(6); });
test('error', () => { expect(f(5)).toBe(10); });
function f(x) { return x * 2; }
