import { vi } from 'vitest'; // expect: test-import-in-production
export const a = vi;
