import _ from 'lodash';
export const a = _;
