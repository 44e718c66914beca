export function parseLength(text) { return text; }
