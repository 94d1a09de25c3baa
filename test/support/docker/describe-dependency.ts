import { describe } from 'vitest'
import { requirementOf } from '../setup/optional-dependency.js'

/**
 * `describe` for tests that need a dependency of the machine. Without it the tests are skipped, with the reason in
 * their name; the file fails when the variable PTC_TEST_… is `required`.
 *
 * @param missing name of the missing dependency; undefined when there is none
 */
export function describeDependency(
  variable: string,
  name: string,
  missing: string | undefined,
  tests: () => void,
): void {
  const requirement = requirementOf(variable)
  if (requirement === 'off') return void describe.skip(`${name} (${variable}=off)`, tests)
  if (missing === undefined) return void describe(name, tests)
  if (requirement === 'required') throw new Error(`${variable}=required, but there is ${missing}`)
  describe.skip(`${name} (there is ${missing})`, tests)
}
