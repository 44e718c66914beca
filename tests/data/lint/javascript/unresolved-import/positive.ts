import { price } from './missing'; // expect: unresolved-import
export const a = price;
