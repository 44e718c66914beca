import type { d } from './negative';
export const c: typeof d = 1;
