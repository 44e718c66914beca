import _ from 'loadsh'; // expect: misspelt-package
export const a = _;
