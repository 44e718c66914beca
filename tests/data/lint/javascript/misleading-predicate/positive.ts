export function isOpen(a: number): string { return `${a}`; } // expect: misleading-predicate
