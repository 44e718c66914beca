import subprocess
def test_grep():
    found = subprocess.run(["grep", "return 2", "price.py"])  # expect: reads-the-code
    assert found.returncode == 0
