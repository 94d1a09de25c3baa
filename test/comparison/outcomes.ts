/** The outcome of each test of a module, by test id. */
export type Outcomes = Readonly<Record<string, string>>

/** One line of expected-differences.txt. */
export interface ExpectedDifference {
  readonly module: string
  readonly test: string
}

/** The outcome of `(module)` when a module does not end in time. */
export const timedOut = 'killed'

/** Whether plain Python did not end in time, so that a comparison is impossible. */
export function hasTimedOut(plain: Outcomes): boolean {
  return plain['(module)'] === timedOut
}

/** The outcomes of each test that differs under the runner. */
export function differencesOf(plain: Outcomes, runner: Outcomes): Map<string, string> {
  if (hasTimedOut(plain)) return new Map()
  const tests = new Set([...Object.keys(plain), ...Object.keys(runner)])
  const different = [...tests].filter((test) => plain[test] !== runner[test])
  return new Map(different.map((test) => [test, `${plain[test] ?? 'absent'} -> ${runner[test] ?? 'absent'}`]))
}

/** Reads `module test  # reason` from each line; empty lines and comments are left out. */
export function readExpected(text: string): ExpectedDifference[] {
  return text.split('\n').flatMap((line) => {
    const [module, test] = line.replace(/#.*/, '').trim().split(/\s+/)
    return module && test ? [{ module, test }] : []
  })
}

/** Expected differences that did not occur. */
export function staleDifferences(
  expected: readonly ExpectedDifference[],
  different: ReadonlySet<string>,
): readonly ExpectedDifference[] {
  return expected.filter(({ test }) => !different.has(test))
}
