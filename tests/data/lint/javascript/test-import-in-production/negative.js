import { vi } from 'vite';
export const a = vi;
