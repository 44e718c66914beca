exports.add = (a, b) => a + b;
exports.half = (n) => n / 3;
