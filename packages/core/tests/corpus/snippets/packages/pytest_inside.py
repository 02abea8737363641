# packages: ["pytest"]
# files: {"test_sample.py": "import pytest\n\ndef test_ok():\n    assert 1 + 1 == 2\n\ndef test_bad(tmp_path):\n    value = {'a': 1}\n    assert value == {'a': 2}\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_many(n):\n    assert n < 2\n"}
import re, subprocess, sys
result = subprocess.run([sys.executable, "-m", "pytest", "-q", "--no-header", "test_sample.py"], capture_output=True, text=True)
print(re.sub(r"pytest-of-\w+", "pytest", result.stdout), result.stderr, result.returncode)
