const modes = ['required', 'auto', 'off'] as const

/** What somebody says with PTC_TEST_…: a part must be there, is used where it is, or is left out. */
export type Requirement = (typeof modes)[number]

/** @throws Error when the variable is anything else */
export function requirementOf(variable: string): Requirement {
  const value = process.env[variable] ?? 'auto'
  const mode = modes.find((known) => known === value)
  if (mode === undefined) throw new Error(`${variable} is ${value}; it can be ${modes.join(', ')}`)
  return mode
}

/**
 * Gets a part that tests need, as its variable says; what keeps it from being there is told, never swallowed.
 *
 * @returns undefined when the tests that need it are to be skipped
 * @throws Error when it is required and can't be had
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
    const problem = `${what} can't be had: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    if (mode === 'required') throw new Error(`${variable}=required, but ${problem}`, { cause: thrown })
    printProgress(`${problem}: the tests that need it are skipped (${variable}=required makes this an error)`)
    return undefined
  }
}

export function printProgress(line: string): void {
  console.error(`› ${line}`)
}
