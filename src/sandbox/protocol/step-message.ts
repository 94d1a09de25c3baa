import { createHash } from 'node:crypto'
import type { JsonValue } from '../../common/json.js'
import type { Step, StepInput } from '../../common/steps.js'
import { heldElsewhere, refOf, type ValueRef } from '../../common/values.js'
import type { Fence, StepMessage } from './messages.js'

/** Instead of all steps up to this one: the state they left. */
export interface RestoreInput {
  readonly type: 'restore'
  readonly snapshot: ValueRef
}

/** What a runner is given as a step. */
export interface RunnerStep extends Omit<Step, 'input'> {
  readonly input: StepInput | RestoreInput
}

type Untold<Message> = Message extends unknown ? Omit<Message, 'fence' | 'digest'> : never

/** A step as the runner gets it: small values in place, the others by their hash. */
export function stepMessage(step: RunnerStep, fence: Fence): StepMessage {
  const content = contentOf(step)
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32)
  return { ...content, fence, digest }
}

function contentOf({ number, now, waited, input }: RunnerStep): Untold<StepMessage> {
  if (input.type === 'restore') return { type: 'restore', step: number, ref: input.snapshot.sha256 }
  const when = { step: number, now, ...(waited === undefined ? {} : { waited }) }
  if (input.type === 'stop') return { type: 'advance', ...when, results: [], stop: input.reason }
  if (input.type === 'cell') {
    const { cell, source } = input
    const place = typeof source === 'string' ? { source } : { ref: source['ptc.value'].sha256 }
    return { type: 'cell', ...when, cell, ...place }
  }
  const results = input.results.map(({ index, outcome }) => {
    const ref = outcome.status === 'ok' ? refOf(outcome.value) : undefined
    return { call: index, outcome: ref ? { status: outcome.status, ref: ref.sha256 } : outcome }
  })
  return { type: 'advance', ...when, results }
}

/** The values that a step names and the runner must be sent before it: each once. */
export function valuesOf({ input }: RunnerStep): readonly ValueRef[] {
  const refs = heldIn(input).flatMap((held) => refOf(held) ?? [])
  return [...new Map(refs.map((ref) => [ref.sha256, ref])).values()]
}

function heldIn(input: RunnerStep['input']): readonly JsonValue[] {
  if (input.type === 'restore') return [heldElsewhere(input.snapshot)]
  if (input.type === 'cell') return [input.source]
  if (input.type === 'stop') return []
  return input.results.flatMap(({ outcome }) => (outcome.status === 'ok' ? [outcome.value] : []))
}
