import unittest
class Tests(unittest.TestCase):
    def setUp(self): self.values = [1, 2]
    def test_sum(self): self.assertEqual(sum(self.values), 3)
    def test_fails(self): self.assertEqual(self.values, [1, 3])
    @unittest.skip("not now")
    def test_skipped(self): pass
    def test_raises(self):
        with self.assertRaises(ZeroDivisionError): 1 / 0
if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    print(result.testsRun, len(result.failures), len(result.skipped))
