const keywords =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'
const builtins =
  'abs all any asyncio bool bytes dict dir enumerate filter float format help int isinstance json len list map max min next print range repr reversed round set sorted str sum tuple type zip'

const names = [...keywords.split(' '), ...builtins.split(' ')]

/** For readline: the words that may follow, and the part of the line that they replace. */
type Completion = readonly [words: readonly string[], replaced: string]

/** Completes the name at the end of a line: a name of Python, of a tool, or one that was typed before. */
export function completeWord(line: string, known: Iterable<string>): Completion {
  // The tab key indents, as in Python's own prompt.
  if (line.trim() === '') return [['    '], '']
  const [, start = ''] = /(?<![\w.])([A-Za-z_]\w*)$/.exec(line) ?? []
  if (start === '') return [[], line]
  const words = new Set([...names, ...known].filter((name) => name.startsWith(start)))
  return [[...words].sort(), start]
}

/** The names in code. */
export function namesIn(code: string): readonly string[] {
  return code.match(/[A-Za-z_]\w*/g) ?? []
}
