# packages: ["pytest"]
import pytest, re
open("test_it.py", "w").write("def test_one(capsys):\n    print('x')\n    assert capsys.readouterr().out == 'x\\n'\n")
print(pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--no-summary", "-o", "console_output_style=none", "--durations=0", "-vv"][:4] + ["test_it.py", "-p", "no:terminal"]))
