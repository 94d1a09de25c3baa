import { expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { defineTool } from '../define-tool.js'
import { createRegistry } from '../registry.js'

const book = {
  name: 'book',
  description: 'Books.',
  input: z.object({ city: z.string() }),
  output: z.object({ id: z.string() }),
  effect: 'idempotent',
} as const
const run = () => ({ id: 'b-1' })

/** The message of the error of a definition. The definition is untyped, as in JavaScript. */
function refusal(changes: Readonly<Record<string, unknown>>): string {
  try {
    defineTool({ ...book, ...changes } as never)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'CONFIG_INVALID') return thrown.message
    throw thrown
  }
  throw new Error('it was accepted')
}

it('gives a compensation the types of the schemas, and tells the workflow that there is one', () => {
  const tool = defineTool({
    ...book,
    run,
    compensate: ({ arguments: args, result, idempotencyKey }) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string }>()
      expectTypeOf(result).toEqualTypeOf<{ id: string } | undefined>()
      expectTypeOf(idempotencyKey).toEqualTypeOf<string>()
    },
  })
  expect(createRegistry([tool]).toolConfigs()).toMatchObject([{ name: 'book', compensates: true }])
  expect(createRegistry([defineTool({ ...book, run })]).toolConfigs()[0]).not.toHaveProperty('compensates')
})

const compensate = () => {}

it.each([
  ['something else', { run, compensate: 'delete' }, /compensate must be a function$/],
  ['a read', { run, compensate, effect: 'read' }, /compensate is not for effect 'read'$/],
  ['a deferred tool', { run, compensate, deferred: { expires: '1d' } }, /compensate is not for a deferred tool$/],
  ['a remote activity', { compensate, activity: {} }, /compensate is for a tool with run$/],
  ['a remote workflow', { compensate, workflow: { type: 'w' } }, /compensate is for a tool with run$/],
  [
    'a Nexus operation',
    { compensate, nexus: { endpoint: 'e', service: 's', operation: 'o' } },
    /compensate is for a tool with run$/,
  ],
])('refuses a compensation of %s', (_, changes, message) => {
  expect(refusal(changes)).toMatch(message)
})
