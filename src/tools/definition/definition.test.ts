import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { defineTool } from '../define-tool.js'
import { createRegistry } from '../registry.js'

const common = { name: 'look_up', description: 'x', input: z.object({ id: z.string() }), effect: 'read' } as const
const remote = { ...common, output: z.string(), activity: { taskQueue: 'python' } } as const
const own = { ...common, output: z.string(), run: () => 'x' } as const

/** The message of the error of a definition. The definition is untyped, as in JavaScript. */
function refusal(definition: Readonly<Record<string, unknown>>): string {
  try {
    defineTool(definition as unknown as typeof own)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'CONFIG_INVALID') return thrown.message
    throw thrown
  }
  throw new Error('it was accepted')
}

describe('a remote tool', () => {
  it('a remote tool is an activity with the name of the tool, which a worker takes within 10 minutes', () => {
    expect(defineTool(remote).remote).toEqual({
      kind: 'activity',
      type: 'look_up',
      taskQueue: 'python',
      scheduleToStartMs: 600_000,
    })
    expect(() => defineTool(remote).run({ id: 'a' }, undefined as never)).toThrow('look_up is a remote tool')
  })

  it('a remote tool is a workflow or a Nexus operation, without a retry policy', () => {
    const { activity: _, ...rest } = remote
    const workflow = { type: 'review', passCall: true }
    expect(defineTool({ ...rest, workflow })).toMatchObject({
      attempts: 1,
      remote: { kind: 'workflow', type: 'review', passCall: true },
    })
    const nexus = { endpoint: 'e', service: 's', operation: 'o' }
    expect(defineTool({ ...rest, nexus })).toMatchObject({ attempts: 1, remote: { kind: 'nexus', ...nexus } })
    for (const passCall of [true, false]) {
      const passed = passCall ? { passCall } : {}
      expect(defineTool({ ...rest, nexus: { ...nexus, passCall } }).remote).toEqual({
        kind: 'nexus',
        ...nexus,
        ...passed,
      })
    }
    expect(refusal({ ...rest, workflow, retry: { attempts: 2 } })).toMatch(
      /retry is not for a tool that is a workflow$/,
    )
    expect(refusal({ ...rest, nexus, effect: 'once' })).toMatch(/a Nexus operation can't have effect 'once'$/)
    expect(refusal({ ...rest, nexus, priority: { priorityKey: 1 } })).toMatch(/priority is not for a Nexus operation$/)
  })

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ['two kinds', { run: () => 'x' }, /run and activity exclude each other$/],
    ['a local execution', { execution: 'local' }, /execution 'local' and activity exclude each other$/],
    ['a task queue beside its activity', { taskQueue: 'q' }, /taskQueue is for a tool with run$/],
    ['a rate', { rate: { perSecond: 1 } }, /rate is for a tool with run$/],
    ['an unknown key', { activity: { taskQueue: 'q', tpye: 'x' } }, /activity is invalid:\n.*tpye/],
    ['an empty task queue', { activity: { taskQueue: '' } }, /activity is invalid:\n- taskQueue: /],
    ['a task queue of the server', { activity: { taskQueue: '/_sys/x' } }, /taskQueue: is the name of a task queue of/],
    [
      'a wrong duration',
      { activity: { scheduleToStartTimeout: 'soon' } },
      /scheduleToStartTimeout: must be milliseconds/,
    ],
    ['arguments that are not JSON', { input: z.object({ at: z.string().pipe(z.coerce.date()) }) }, /can't be sent to/],
  ])('a remote tool is refused with %s', (_what, change, message) => {
    expect(refusal({ ...remote, ...change })).toMatch(message)
  })

  it('a remote tool is refused without the name of its workflow, and without a kind', () => {
    const { activity: _, ...rest } = remote
    expect(refusal({ ...rest, workflow: {} })).toMatch(/workflow is invalid:\n- type: /)
    expect(refusal(rest)).toMatch(/run is missing$/)
  })

  it("a remote tool can't have the activity type of another tool", () => {
    const tools = [defineTool({ ...remote, activity: { type: 'pay' } }), defineTool({ ...own, name: 'pay' })]
    expect(() => createRegistry(tools)).toThrow('tool look_up: its activity pay has the name of another tool')
  })
})

describe('a JSON Schema', () => {
  const input = {
    type: 'object',
    properties: { id: { type: 'string' }, n: { type: 'integer', default: 3 } },
    required: ['id'],
  }
  const output = { type: 'array', items: { type: 'number' } }

  it('a JSON Schema works like zod, and refuses unknown arguments unless it has additional properties', () => {
    const tool = defineTool({ ...remote, input, output })
    expect(tool.inputSchema).toMatchObject({ required: ['id'], additionalProperties: false })
    expect(tool.input.parse({ id: 'a' })).toEqual({ id: 'a' })
    expect(tool.input.safeParse({ id: 'a', x: 1 }).success).toBe(false)
    const loose = defineTool({ ...remote, input: { ...input, additionalProperties: true }, output })
    expect(loose.input.safeParse({ id: 'a', x: 1 }).success).toBe(true)
    expect(tool.output.safeParse(['a']).success).toBe(false)
  })

  it('a JSON Schema gives run the type of JSON', () => {
    defineTool({
      ...own,
      input,
      output: z.string(),
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
        return 'x'
      },
    })
  })

  it.each<[string, unknown, RegExp]>([
    ['no object', { type: 'string' }, /its type is string; it must be object$/],
    ['a reference to elsewhere', { type: 'object', properties: { a: { $ref: 'https://x' } } }, /External \$ref/],
    ['an unknown type', { type: 'object', properties: { a: { type: 'strin' } } }, /Unsupported type: strin/],
    ['conditions', { type: 'object', if: {} }, /if\/then\/else/],
    ['text', 'object', /input must be a zod schema or a JSON Schema$/],
  ])('a JSON Schema is refused with %s', (_what, schema, message) => {
    expect(refusal({ ...remote, input: schema })).toMatch(message)
  })
})

describe('retry, rate and priority', () => {
  it("retry, rate and priority have Temporal's names and their meaning", () => {
    const retry = {
      attempts: 5,
      initialInterval: '1s',
      backoffCoefficient: 3,
      maximumInterval: '1m',
      nonRetryableErrorTypes: ['NotFound'],
    } as const
    const tool = defineTool({
      ...own,
      retry,
      taskQueue: 'slow',
      rate: { perSecond: 2.5 },
      priority: { priorityKey: 1, fairnessKey: { context: 'tenant' } },
    })
    expect(createRegistry([tool]).toolConfigs()).toMatchObject([
      {
        attempts: 5,
        retry: { initialMs: 1_000, backoffCoefficient: 3, maximumMs: 60_000, nonRetryableErrorTypes: ['NotFound'] },
        taskQueue: 'slow',
        rate: { perSecond: 2.5 },
        priority: { priorityKey: 1, fairnessKey: { context: 'tenant' } },
      },
    ])
  })

  it.each<[Readonly<Record<string, unknown>>, RegExp]>([
    [{ retry: { attempts: 0 } }, /retry is invalid:\n- attempts: /],
    [{ retry: { backoffCoefficient: 0.5 } }, /retry is invalid:\n- backoffCoefficient: /],
    [{ retry: { initialInterval: '1m', maximumInterval: '1s' } }, /initialInterval is over maximumInterval/],
    [{ effect: 'once', retry: { initialInterval: '1s' } }, /retry can only be \{ attempts: 1 \} for effect 'once'$/],
    [{ rate: { perSecond: 0 } }, /rate is invalid:\n- perSecond: /],
    [{ rate: { perMinute: 1 } }, /rate is invalid:/],
    [{ priority: { priorityKey: 6 } }, /priority is invalid:\n- priorityKey: /],
    [{ priority: { fairnessKey: 'é'.repeat(33) } }, /priority is invalid:\n- fairnessKey: /],
    [{ execution: 'local', rate: { perSecond: 1 } }, /execution 'local' and rate exclude each other$/],
  ])('refuses the options %j of a tool', (change, message) => {
    expect(refusal({ ...own, ...change })).toMatch(message)
  })

  it("two tools with different rates can't share a task queue", () => {
    const tools = [
      defineTool({ ...own, taskQueue: 'q', rate: { perSecond: 1 } }),
      defineTool({ ...own, name: 'pay', taskQueue: 'q' }),
    ]
    expect(() => createRegistry(tools)).toThrow('tools look_up and pay have one task queue, q, and different rates')
  })
})
