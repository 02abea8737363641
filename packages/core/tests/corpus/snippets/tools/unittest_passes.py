import io, unittest
from unittest import mock
class Tests(unittest.TestCase):
    def test_mock(self):
        service = mock.Mock(return_value=5)
        self.assertEqual(service(1), 5)
        service.assert_called_once_with(1)
        with mock.patch("builtins.input", return_value="typed"):
            self.assertEqual(input(), "typed")
    def test_sub(self):
        for n in range(2):
            with self.subTest(n=n): self.assertLess(n, 5)
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
print(unittest.TextTestRunner(stream=io.StringIO()).run(suite))
unittest.main(argv=["x"], exit=False, verbosity=0, testRunner=unittest.TextTestRunner(stream=io.StringIO()))
