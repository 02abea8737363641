# -*- coding: utf-8 -*-
naïve = "é"
print(naïve, len(naïve.encode()))
