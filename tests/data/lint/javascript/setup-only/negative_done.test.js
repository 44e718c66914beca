it('runs without handlers', (done) => {
  route.dispatch({}, done);
});
