import proto from '@temporalio/proto'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeMessagesWellFormed } from './well-formed-messages.js'

/** The part of the reflection of protobufjs that this test needs. */
interface MessageType {
  readonly name: string
  readonly fullName: string
  readonly fieldsArray: readonly MessageField[]
  encode(message: object): { finish(): Uint8Array }
  decode(bytes: Uint8Array): { toJSON(): Record<string, unknown> }
}
interface MessageField {
  readonly name: string
  readonly type: string
  readonly repeated: boolean
  readonly map: boolean
  readonly keyType?: string
  readonly resolvedType: MessageType | null
  resolve(): MessageField
}
interface Namespace {
  readonly nested?: Readonly<Record<string, Namespace>>
  readonly methods?: Readonly<Record<string, { resolve(): { readonly resolvedRequestType: MessageType } }>>
}

const { coresdk, temporal } = proto as unknown as Readonly<Record<'coresdk' | 'temporal', Namespace>>

/** All messages that a worker gives to sdk-core, and all requests of a client. */
const roots = [
  find(coresdk, 'ActivityTaskCompletion'),
  find(coresdk, 'ActivityHeartbeat'),
  find(coresdk, 'workflow_completion.WorkflowActivationCompletion'),
  find(coresdk, 'nexus.NexusTaskCompletion'),
  ...['workflowservice.v1.WorkflowService', 'operatorservice.v1.OperatorService'].flatMap((name) =>
    Object.values((find(temporal, `api.${name}`) as unknown as Namespace).methods ?? {}).map(
      (method) => method.resolve().resolvedRequestType,
    ),
  ),
]

function find(namespace: Namespace, path: string): MessageType {
  const found = path.split('.').reduce((at: Namespace | undefined, name) => at?.nested?.[name], namespace)
  return found as unknown as MessageType
}

/** The messages with a string field that the roots can contain. */
function* messagesWithTexts(): Generator<{ readonly type: MessageType; readonly field: MessageField }> {
  const seen = new Set<MessageType>()
  const waiting = [...roots]
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (seen.has(type)) continue
    seen.add(type)
    for (const each of type.fieldsArray) {
      const field = each.resolve()
      if (field.type === 'string' || field.keyType === 'string') yield { type, field }
      if (field.resolvedType && 'fieldsArray' in field.resolvedType) waiting.push(field.resolvedType)
    }
  }
}

/** Returns texts of these lengths with a lone surrogate at the start, at the end, in the middle, and everywhere. */
function illFormedTexts(lengths: readonly number[]): readonly string[] {
  return lengths.flatMap((length) =>
    ['\ud83d', '\ude00'].flatMap((half) => [
      half.padEnd(length, 'a'),
      half.padStart(length, 'é'),
      half.repeat(length),
      `${'a'.repeat(Math.floor(length / 2))}${half}`.padEnd(length, '\ude00\ud83d'),
    ]),
  )
}

beforeAll(() => {
  makeMessagesWellFormed()
  makeMessagesWellFormed()
})

describe('makeMessagesWellFormed', () => {
  it('every string field of every message that a worker or a client sends is well-formed', () => {
    const fields = [...messagesWithTexts()]
    for (const expected of [
      'Failure.message',
      'Failure.stackTrace',
      'ApplicationFailureInfo.type',
      'Priority.fairnessKey',
      'ScheduleActivity.activityId',
      'ScheduleActivity.headers',
      'Memo.fields',
      'SearchAttributes.indexedFields',
      'StartChildWorkflowExecution.workflowId',
      'SignalExternalWorkflowExecution.signalName',
      'RequestCancelExternalWorkflowExecution.reason',
      'StartWorkflowExecutionRequest.identity',
      'TerminateWorkflowExecutionRequest.reason',
      'RequestCancelWorkflowExecutionRequest.reason',
      'WorkflowQuery.queryType',
      'Meta.updateId',
      'TaskQueue.name',
    ])
      expect(fields.map(({ type, field }) => `${type.name}.${field.name}`)).toContain(expected)
    for (const { type, field } of fields)
      for (const text of illFormedTexts([1, 39, 41])) {
        const decoded = type.decode(type.encode({ [field.name]: valueOf(field, text) }).finish()).toJSON()
        // A decoder replaces each lone surrogate in invalid UTF-8 by several characters.
        const texts = new Set(textsOf(field, decoded[field.name]))
        expect(texts, `${type.fullName}.${field.name}`).toEqual(new Set([text.toWellFormed()]))
      }
  })

  it('messages have the bytes of the well-formed text, for texts of 1 to 300 units', () => {
    const type = find(temporal, 'api.failure.v1.Failure')
    for (const text of illFormedTexts(Array.from({ length: 300 }, (_, index) => index + 1))) {
      const bytes = type.encode({ message: text }).finish()
      const expected = Buffer.from(text.toWellFormed())
      expect(Buffer.from(bytes).subarray(-expected.length).equals(expected), JSON.stringify(text)).toBe(true)
      // The number of the field, and the length of the text.
      expect(bytes.length - expected.length).toBeLessThanOrEqual(3)
    }
  })

  it('a well-formed text is unchanged, and a value that is not a text is written as an empty one', () => {
    const type = find(temporal, 'api.failure.v1.Failure')
    const read = (message: unknown) => type.decode(type.encode({ message }).finish()).toJSON()['message'] ?? ''
    for (const text of ['', 'a\0b', 'é😀', '😀'.repeat(50)]) expect(read(text)).toBe(text)
    for (const value of [42, {}, ['a', 'b'], Symbol('a')]) expect(read(value)).toBe('')
  })
})

function valueOf({ map, repeated, type }: MessageField, text: string): unknown {
  if (map) return { [text]: type === 'string' ? text : type === 'bytes' ? '' : {} }
  return repeated ? [text, text] : text
}

/** The texts in a decoded field. */
function textsOf({ map, type }: MessageField, value: unknown): readonly unknown[] {
  if (!map) return [value].flat()
  return [...Object.keys(value as object), ...(type === 'string' ? Object.values(value as object) : [])]
}
