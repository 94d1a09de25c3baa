const modes = ['required', 'auto', 'off'] as const

/** The value of a variable PTC_TEST_…: a dependency must be available, is used when available, or is not used. */
export type Requirement = (typeof modes)[number]

/** @throws Error when the variable has another value */
export function requirementOf(variable: string): Requirement {
  const value = process.env[variable] ?? 'auto'
  const mode = modes.find((known) => known === value)
  if (mode === undefined) throw new Error(`${variable} is ${value}; it can be ${modes.join(', ')}`)
  return mode
}

/**
 * Gets a dependency of tests as its variable requires. Reports the reason when it is unavailable.
 *
 * @returns undefined when the tests that need it must be skipped
 * @throws Error when it is required and unavailable
 */
export async function optionalDependency<Part>(
  variable: string,
  what: string,
  get: () => Promise<Part>,
): Promise<Part | undefined> {
  const mode = requirementOf(variable)
  if (mode === 'off') {
    printProgress(`${what} is off (${variable}=off): the tests that need it are skipped`)
    return undefined
  }
  try {
    return await get()
  } catch (thrown) {
    const problem = `${what} is unavailable: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    if (mode === 'required') throw new Error(`${variable}=required, but ${problem}`, { cause: thrown })
    printProgress(`${problem}: the tests that need it are skipped (${variable}=required makes this an error)`)
    return undefined
  }
}

export function printProgress(line: string): void {
  console.error(`› ${line}`)
}
