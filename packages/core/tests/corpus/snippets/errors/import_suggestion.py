from collections import namedtupel
