const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Words of the Python grammar: no function and no argument can have such a name. */
export const pythonKeywords: ReadonlySet<string> = new Set(
  words(`
    False None True and as assert async await break class continue def del elif else except finally for from global if
    import in is lambda nonlocal not or pass raise return try while with yield`),
)

/** Words of the JavaScript grammar, module code included, that {@link pythonKeywords} does not have. */
export const javascriptKeywords: ReadonlySet<string> = new Set(
  words(`
    arguments case catch const debugger default delete do enum eval export extends false function implements instanceof
    interface let new null package private protected public static super switch this throw true typeof undefined var void`),
)

/** Python's builtins that a program may well use, and would lose to a tool of that name. Exceptions: see {@link isPythonException}. */
export const pythonBuiltins: ReadonlySet<string> = new Set(
  words(`
    Ellipsis NotImplemented abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod
    compile complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr
    globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max memoryview min
    next object oct open ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str
    sum super tuple type vars zip`),
)

/** Names the runner gives to every program, and modules programs import under their own name. */
export const runnerNames: ReadonlySet<string> = new Set(
  words('ToolError ToolDenied ToolTimedOut ToolOutcomeUnknown asyncio json'),
)

/** Python names its exceptions by a rule, so there is no list to keep: `ValueError`, `UserWarning`, `StopIteration` … */
export function isPythonException(name: string): boolean {
  return /^(?:[A-Z]\w*(?:Error|Warning|Exception|ExceptionGroup|Iteration|Interrupt|Exit))$|^(?:Exception|ExceptionGroup|Warning)$/.test(
    name,
  )
}
