import { rate } from './tax';
import data from './data.json';
export const a = rate + data.length;
