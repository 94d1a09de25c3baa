import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../define-tool.js'

const define = (options: object) =>
  defineTool({
    name: 'write',
    description: 'Writes.',
    input: z.object({ path: z.string() }),
    output: z.null(),
    effect: 'read',
    run: () => null,
    ...options,
  })

const key = ({ path }: { readonly path: string }) => path

it('a tool has locks of its own, or shares those with a name', () => {
  expect(define({ lockBy: key })).toMatchObject({ lock: {}, lockBy: key })
  expect(define({ lockBy: { name: 'files', key } })).toMatchObject({ lock: { sharedAs: 'files' }, lockBy: key })
  expect(define({})).not.toHaveProperty('lock')
})

it('locks and a concurrency limit go together', () => {
  expect(define({ lockBy: key, concurrency: 3 })).toMatchObject({ lock: {}, concurrency: 3 })
})

it.each([
  [{ lockBy: 'path' }, /lockBy must be a function of the input, or { name, key }/],
  [{ lockBy: { name: 'files' } }, /lockBy is invalid:\n- key: must be a function of the input/],
  [{ lockBy: { name: 'no:colon', key } }, /lockBy is invalid/],
  [{ lockBy: { name: 'files', key, other: 1 } }, /lockBy is invalid:\n- Unrecognized key: "other"/],
  [{ lockBy: { name: 'files', key }, concurrency: 2 }, /lockBy.name and concurrency exclude each other/],
  [{ lockBy: key, execution: 'local' }, /execution 'local' and lockBy exclude each other/],
])('a wrong lockBy is refused when the tool is defined: %j', (options, message) => {
  expect(() => define(options)).toThrow(message)
})
