import 'fs';
import { a as renamed } from 'fs';
import path from 'path';
export { path };
export const c = `${renamed}`;
