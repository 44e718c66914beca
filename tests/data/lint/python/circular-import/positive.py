from second import b  # expect: circular-import
a = b
