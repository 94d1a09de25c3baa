const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Keywords of Python: no function and no argument may have such a name. */
export const pythonKeywords: ReadonlySet<string> = new Set(
  splitWords(`
    False None True and as assert async await break class continue def del elif else except finally for from global if
    import in is lambda nonlocal not or pass raise return try while with yield`),
)

/** Python's builtins, which a tool of the same name would hide. {@link isPythonException} covers the exceptions. */
const pythonBuiltins: ReadonlySet<string> = new Set(
  splitWords(`
    Ellipsis NotImplemented abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod
    compile complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr
    globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max memoryview min
    next object oct open ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str
    sum super tuple type vars zip`),
)

/** Names that the runner defines in every program, and modules that programs commonly import. */
const runnerNames: ReadonlySet<string> = new Set(
  splitWords('ToolError ToolDenied ToolTimedOut ToolOutcomeUnknown asyncio json input_data'),
)

/** Python names its exceptions by a rule: `ValueError`, `UserWarning`, `StopIteration` … */
function isPythonException(name: string): boolean {
  return /^(?:[A-Z]\w*(?:Error|Warning|Exception|ExceptionGroup|Iteration|Interrupt|Exit))$|^(?:Exception|ExceptionGroup|Warning)$/.test(
    name,
  )
}

/** Returns whether the name is a keyword, hides a builtin, or is a name that programs use. */
export function isReservedName(name: string): boolean {
  return pythonKeywords.has(name) || pythonBuiltins.has(name) || isPythonException(name) || runnerNames.has(name)
}
