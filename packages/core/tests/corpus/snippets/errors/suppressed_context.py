try:
    int("x")
except ValueError:
    raise LookupError("shown alone") from None
