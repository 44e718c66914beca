test('a', () => { expect(f(2) > 3).toBe(true); });
function f(x) { return x * 2; }
