import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { StepResult } from '../../common/session/steps.js'
import { defined } from '../../common/defined.js'
import type { CaseDefinition, ConformanceContext } from './conformance-context.js'
import type { SessionHarness } from './session-harness.js'

type StepResultOf<Type extends StepResult['type']> = Extract<StepResult, { readonly type: Type }>

/** Returns the result, which must have this type. */
export function expectResult<Type extends StepResult['type']>(result: StepResult, type: Type): StepResultOf<Type> {
  assert.equal(result.type, type, `expected a result ${type}, not ${inspect(result)}`)
  return result as StepResultOf<Type>
}

/** Returns the error text of a cell, which must have failed. */
export function expectError(result: StepResult, message: string | RegExp): string {
  const { error } = expectResult(result, 'failed')
  if (typeof message === 'string') assert.ok(error.includes(message), `expected ${message} in ${error}`)
  else assert.match(error, message)
  return error
}

/** Compares numbers with a tolerance. */
export function expectNear(actual: number | null, expected: number, tolerance: number): void {
  const near = actual !== null && Math.abs(actual - expected) <= tolerance
  assert.ok(near, `expected ${expected} (within ${tolerance}), not ${actual}`)
}

interface CellCaseOptions extends Pick<CaseDefinition, 'requires'> {
  /** The case has a sandbox of its own. Default: the shared one. */
  readonly isFresh?: true
}

/** A case whose cells complete, and print this text together. */
export function prints(
  name: string,
  cells: string | readonly string[],
  expected: string | RegExp,
  options: CellCaseOptions = {},
): CaseDefinition {
  return cellCase(name, options, async (harness) => {
    let printed = ''
    for (const cell of [cells].flat()) {
      const { output, finalResult } = await harness.runCell(cell)
      expectResult(finalResult, 'completed')
      printed += output
    }
    if (typeof expected === 'string') assert.equal(printed, expected)
    else assert.match(printed, expected)
  })
}

/** A case whose cell fails with this error. */
export function fails(
  name: string,
  source: string,
  error: string | RegExp,
  options: CellCaseOptions = {},
): CaseDefinition {
  return cellCase(name, options, async (harness) => {
    expectError((await harness.runCell(source)).finalResult, error)
  })
}

function cellCase(
  name: string,
  { isFresh, requires }: CellCaseOptions,
  check: (harness: SessionHarness) => Promise<void>,
): CaseDefinition {
  const run = async (context: ConformanceContext) => check(await (isFresh ? context.newHarness() : context.harness()))
  return { name, ...defined({ requires }), run }
}
