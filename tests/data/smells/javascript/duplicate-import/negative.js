import { a } from 'fs';
import { c } from 'fs';
export const b = a + c;
