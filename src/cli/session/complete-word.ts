/** For readline: the words that may follow, and the part of the line that they replace. */
type Completion = readonly [words: readonly string[], replaced: string]

/** Completes the name at the end of a line: a name of the language, of a tool, or one that was typed before. */
export function completeWord(line: string, known: Iterable<string>, indentation: string): Completion {
  if (line.trim() === '') return [[indentation], '']
  const [, start = ''] = /(?<![\w.])([A-Za-z_]\w*)$/.exec(line) ?? []
  if (start === '') return [[], line]
  const words = new Set([...known].filter((name) => name.startsWith(start)))
  return [[...words].sort(), start]
}

/** The names in code. */
export function namesIn(code: string): readonly string[] {
  return code.match(/[A-Za-z_]\w*/g) ?? []
}
