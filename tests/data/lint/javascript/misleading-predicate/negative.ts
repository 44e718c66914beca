export function isOpen(a: unknown): a is string { return typeof a === 'string'; }
export function island(a: number): string { return `${a}`; }
