import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { StepResult } from '../../common/session/steps.js'

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
