# python: 11
error = ValueError("with notes")
error.add_note("first note")
error.add_note("second\nnote")
raise error
