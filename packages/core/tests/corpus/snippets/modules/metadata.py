import importlib.metadata
try:
    importlib.metadata.version("no-such-distribution")
except importlib.metadata.PackageNotFoundError as error:
    print(error)
print([d.metadata["Name"] for d in importlib.metadata.distributions()])
