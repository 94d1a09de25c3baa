/** Whether a name matches a pattern, in which `*` stands for any characters. Linear in the length of the name. */
export function matchesPattern(name: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let position = first.length
  for (const part of others) {
    const found = name.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return name.length - last.length >= position && name.endsWith(last)
}

export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(name, pattern))
}

/** The first pattern that no name matches. */
export function unmatchedPattern(patterns: readonly string[], names: readonly string[]): string | undefined {
  return patterns.find((pattern) => !names.some((name) => matchesPattern(name, pattern)))
}
