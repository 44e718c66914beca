import { a } from 'fs';
import { a } from 'fs'; // expect: duplicate-import
export const b = a;
