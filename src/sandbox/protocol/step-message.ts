import { createHash } from 'node:crypto'
import { defined } from '../../common/defined.js'
import type { JsonValue } from '../../common/json/json.js'
import type { Step, StepInput } from '../../common/session/steps.js'
import { externalValue, refOf, type ValueRef } from '../../common/json/external-value.js'
import type { Fence, StepMessage } from './messages.js'

/** An input that replaces all steps up to this one by the state after them. */
interface RestoreInput {
  readonly type: 'restore'
  readonly snapshot: ValueRef
}

/** A step for a driver. */
export interface RunnerStep extends Omit<Step, 'input'> {
  readonly input: StepInput | RestoreInput
}

type StepContent<Message> = Message extends unknown
  ? Omit<Message, 'fence' | 'digest' | 'now' | 'waited' | 'recorded'>
  : never

/** Returns the message of a step, with inline values, and the hashes of external values. */
export function stepMessage(step: RunnerStep, fence: Fence): StepMessage {
  const content = stepContent(step)
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32)
  if (content.type === 'restore') return { ...content, fence, digest }
  const { now, waited, recorded } = step
  const optional = defined({ waited, recorded })
  return { ...content, now, ...optional, fence, digest }
}

function stepContent({ number, input }: RunnerStep): StepContent<StepMessage> {
  const step = { step: number }
  if (input.type === 'restore') return { type: 'restore', ...step, ref: input.snapshot.sha256 }
  if (input.type === 'stop') return { type: 'resume', ...step, results: [], stop: input.reason }
  if (input.type === 'file') {
    const { path, offset, content } = input
    return { type: 'file', ...step, path, offset, ref: content['ptc.value'].sha256 }
  }
  if (input.type === 'cell') {
    const { cell, source, language, inputData, restricted, checked } = input
    const sourceField = typeof source === 'string' ? { source } : { ref: source['ptc.value'].sha256 }
    const inputField = inputData === undefined ? {} : { input_data: inputDataField(inputData) }
    return { type: 'cell', ...step, cell, ...sourceField, ...inputField, ...defined({ language, restricted, checked }) }
  }
  const results = input.results.map(({ index, outcome }) => {
    const ref = outcome.status === 'ok' ? refOf(outcome.value) : undefined
    if (outcome.status !== 'ok' || !ref) return { call: index, outcome }
    const { status, floats } = outcome
    return { call: index, outcome: { status, ref: ref.sha256, ...(floats && { floats }) } }
  })
  return { type: 'resume', ...step, results }
}

function inputDataField(value: JsonValue): { readonly value: JsonValue } | { readonly ref: string } {
  const ref = refOf(value)
  return ref ? { ref: ref.sha256 } : { value }
}

/**
 * Returns the external values that a step references, without duplicates. The runner must have them before the step.
 */
export function referencedValues({ input }: RunnerStep): readonly ValueRef[] {
  const refs = externalizableValues(input).flatMap((value) => refOf(value) ?? [])
  return [...new Map(refs.map((ref) => [ref.sha256, ref])).values()]
}

function externalizableValues(input: RunnerStep['input']): readonly JsonValue[] {
  if (input.type === 'restore') return [externalValue(input.snapshot)]
  if (input.type === 'cell') return [input.source, ...(input.inputData === undefined ? [] : [input.inputData])]
  if (input.type === 'stop') return []
  if (input.type === 'file') return [input.content]
  return input.results.flatMap(({ outcome }) => (outcome.status === 'ok' ? [outcome.value] : []))
}
