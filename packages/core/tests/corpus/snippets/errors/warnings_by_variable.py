# env: {"PYTHONWARNINGS": "error::UserWarning"}
import sys, warnings
print(sys.warnoptions)
warnings.warn("now an error")
