require('./none.js');
