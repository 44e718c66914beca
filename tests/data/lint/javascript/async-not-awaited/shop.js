export async function fetchAll(x) { return x * 2; }
