import '../src/none.js';
