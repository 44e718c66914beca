it.todo('a'); // expect: todo-test
