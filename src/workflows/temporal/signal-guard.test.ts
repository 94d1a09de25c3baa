import { defaultPayloadConverter, type WorkflowInternalsInterceptor } from '@temporalio/workflow'
import { expect, it, vi } from 'vitest'
import { SignalGuard } from './signal-guard.js'

const warned = vi.hoisted(() => vi.fn())
vi.mock('@temporalio/workflow', async (original) => ({
  ...(await original<object>()),
  log: { warn: warned },
}))

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor['activate']>>[0]['activation']

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const signal = (signalName: string, ...input: object[]) => ({ signalWorkflow: { signalName, input } })
const malformed = { metadata: { encoding: bytes('json/plain') }, data: bytes('{"a":') }
const unknown = { metadata: { encoding: bytes('binary/encrypted') }, data: bytes('x') }

it('the guard leaves out only signals with malformed JSON, and logs their names', () => {
  const other = { fireTimer: { seq: 1 } }
  const good = signal('decide', defaultPayloadConverter.toPayload({ a: 1 }))
  const [bare, encrypted] = [signal('wake'), signal('decide', unknown)]
  const jobs = [other, signal('decide', malformed), good, signal('x', good, malformed), bare, encrypted]
  const activation: Activation = { jobs }
  const passed: Activation[] = []
  new SignalGuard().activate({ activation, batchIndex: 0 }, (input) => void passed.push(input.activation))
  expect(passed).toEqual([{ jobs: [other, good, bare, encrypted] }])
  expect(warned.mock.calls).toEqual([
    ['signal decide is ignored: its argument is not JSON'],
    ['signal x is ignored: its argument is not JSON'],
  ])
})
