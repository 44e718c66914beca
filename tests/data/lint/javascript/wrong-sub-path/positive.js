import x from 'lodash/fltr'; // expect: wrong-sub-path
export const a = x;
