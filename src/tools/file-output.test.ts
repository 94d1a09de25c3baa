import { expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import { defineTool } from './define-tool.js'
import { file, type FileResult } from './file-output.js'
import { createRegistry } from './registry.js'

const common = { name: 'render', description: 'Renders.', input: z.object({}), effect: 'read' } as const
const definition = { ...common, output: file(), run: () => ({ name: 'a.txt', data: 'a' }) } as const

function refusal(more: object): string {
  try {
    defineTool({ ...definition, ...more } as typeof definition)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'CONFIG_INVALID') return thrown.message
    throw thrown
  }
  throw new Error('it was accepted')
}

it('a tool that returns a file has its options, and its result is a path', () => {
  const tool = defineTool({ ...definition, output: file({ mediaType: 'image/png', maxBytes: 10 }) })
  expect(tool).toMatchObject({
    description: 'Renders.\nThe result is the path of a file in the sandbox (image/png).',
    outputSchema: { type: 'string' },
    file: { mediaType: 'image/png', maxBytes: 10 },
    returnsFile: true,
  })
  expectTypeOf<z.output<typeof tool.output>>().toEqualTypeOf<string>()
  expectTypeOf<z.input<typeof tool.output>>().toEqualTypeOf<FileResult>()
  const registry = createRegistry([tool])
  expect(registry.toolConfigs()[0]).toMatchObject({ returnsFile: true })
  expect(registry.toolConfigs()[0]).not.toHaveProperty('file')
  for (const language of ['python', 'javascript', 'bash', 'python,bash'])
    expect(registry.inLanguage(language).documentation()[0]?.stub).toContain(
      'path of a file in the sandbox (image/png)',
    )
})

it('the compiler refuses a run that returns no file', () => {
  // @ts-expect-error a text is no file
  defineTool({ ...definition, run: () => 'text' })
})

it.each([
  ['another worker executes it', { run: undefined, activity: {} }, 'output: file() is for a tool with run'],
  ['its result comes later', { deferred: { expires: '1d' } }, 'output: file() is not for a deferred tool'],
  ['it is local', { execution: 'local' }, "execution 'local' and output: file() exclude each other"],
  ['the file is in an object', { output: z.object({ chart: file() }) }, "output can't be shown as JSON Schema"],
])('a tool that returns a file is refused when %s', (_, more, message) => {
  expect(refusal(more)).toContain(message)
})

it.each([{ maxBytes: 0 }, { maxBytes: 2 ** 31 }, { mediaType: 'png' }, { mediaType: 'a/b\n' }, { name: 'x' }])(
  'file(%o) is refused',
  (options) => {
    expect(() => file(options)).toThrow('file(): the options are invalid')
  },
)
