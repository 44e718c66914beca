import { c } from './third';
export const d = c;
