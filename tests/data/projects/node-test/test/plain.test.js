console.log('no tests here');
