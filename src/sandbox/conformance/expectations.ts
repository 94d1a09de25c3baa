import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { StepAnswer } from '../../common/steps.js'

type AnswerOf<Type extends StepAnswer['type']> = Extract<StepAnswer, { readonly type: Type }>

/** The answer, which must be of this type. */
export function expectAnswer<Type extends StepAnswer['type']>(answer: StepAnswer, type: Type): AnswerOf<Type> {
  assert.equal(answer.type, type, `expected an answer ${type}, not ${inspect(answer)}`)
  return answer as AnswerOf<Type>
}

/** The error text of a cell that must have failed. */
export function expectError(answer: StepAnswer, message: string | RegExp): string {
  const { error } = expectAnswer(answer, 'failed')
  if (typeof message === 'string') assert.ok(error.includes(message), `expected ${message} in ${error}`)
  else assert.match(error, message)
  return error
}

/** A number that may be off by so much. */
export function expectNear(actual: number | null, expected: number, tolerance: number): void {
  const near = actual !== null && Math.abs(actual - expected) <= tolerance
  assert.ok(near, `expected ${expected} (within ${tolerance}), not ${actual}`)
}
