"""Adds.

>>> add(1, 2)
3
>>> add(1, 1)
3
>>> add("a", 1)
Traceback (most recent call last):
TypeError: can only concatenate str (not "int") to str
"""
import asyncio, doctest, io, sys, unittest
from unittest import mock
def add(a, b):
    """
    >>> add(2, 2)
    4
    """
    return a + b
class Case(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls): print("class is set up")
    async def test_async(self):
        await asyncio.sleep(0); self.assertEqual(add(1, 2), 3)
    def test_sub(self):
        for n in (1, 2, 3):
            with self.subTest(n=n): self.assertNotEqual(n, 2)
    @unittest.expectedFailure
    def test_expected(self): self.fail("expected")
    @mock.patch("builtins.print")
    def test_mock(self, printed):
        print("hidden"); printed.assert_called_once_with("shown")
    def test_logs(self):
        import logging
        with self.assertLogs("x", "INFO") as logs: logging.getLogger("x").info("said")
        self.assertEqual(logs.output, ["INFO:x:said"])
    def test_error(self): add("a", 1)
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, buffer=True).run(suite)
print(result)
print(doctest.testmod(), doctest.testmod(verbose=False, report=False).failed)
unittest.main(argv=["main.py", "-q", "Case.test_logs"], exit=True)
