import { a, b } from 'fs'; // expect: unused-import
export const c = a;
