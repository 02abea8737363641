from pathlib import Path, PurePosixPath, PureWindowsPath
path = Path("/usr/lib/../share/doc.tar.gz")
print(path.parts, path.name, path.stem, path.suffixes, path.parent, path.anchor)
print(Path("a") / "b" / ".." / "c", Path("a/b").relative_to("a"), path.with_suffix(".zip").name)
print(PureWindowsPath(r"C:\x\y").as_posix(), PurePosixPath("/a").joinpath("b"), Path.cwd() == Path(".").resolve())
