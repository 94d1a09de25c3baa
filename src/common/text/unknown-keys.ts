/** Names the unknown keys of an object, with similar known ones; undefined when all keys are known. */
export function describeUnknownKeys(given: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(given).filter((key) => !known.includes(key))
  if (unknown.length === 0) return undefined
  return unknown.map((key) => `unknown key ${JSON.stringify(key)}${didYouMean(key, known)}`).join('; ')
}

/** Returns `. Did you mean "…"?` for a misspelt word, to append to a message; empty when no choice is similar. */
export function didYouMean(word: string, choices: readonly string[]): string {
  const suggestion = closestMatch(word, choices)
  return suggestion === undefined ? '' : `. Did you mean ${JSON.stringify(suggestion)}?`
}

const maxEdits = 2

/** Returns the choice most similar to a misspelt word; undefined when none is similar. */
export function closestMatch(word: string, choices: readonly string[]): string | undefined {
  const differenceInLength = (choice: string): number => Math.abs(choice.length - word.length)
  const candidates = choices
    .map((choice) => ({ choice, edits: editDistance(word.toLowerCase(), choice.toLowerCase()) }))
    .filter(({ choice, edits }) => edits <= Math.min(maxEdits, choice.length - 1))
    // In misspellings, letters are swapped or changed more often than left out.
    .toSorted((a, b) => a.edits - b.edits || differenceInLength(a.choice) - differenceInLength(b.choice))
  return candidates[0]?.choice
}

/** Returns the Levenshtein distance. A swap of two neighbours counts as one edit. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const changed = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const swaps = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = swaps ? (beforeLast[column - 2] ?? 0) + 1 : Infinity
      current.push(Math.min(changed, swapped, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
