/** The functions and types that every Python from 3.10 on has without an import. */
export const PYTHON_BUILTINS: ReadonlySet<string> = new Set(
  `abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex
   copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals
   hasattr hash help hex id input int isinstance issubclass iter len license list locals map max memoryview min next
   object oct open ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str
   sum super tuple type vars zip __import__ __build_class__`.split(/\s+/),
);

/** Words of the language itself, which cannot be the name of anything. */
export const PYTHON_KEYWORDS: ReadonlySet<string> = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global
   if import in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
