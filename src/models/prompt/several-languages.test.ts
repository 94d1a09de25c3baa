import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../index.js'
import { defaultLimits } from '../../common/run/limits.js'
import { languageOf } from '../../languages/index.js'
import { documentTools } from '../../tools/documentation/document-tools.js'
import { exampleCallOf } from './example-call.js'
import { buildPrompt } from './prompt.js'

const language = languageOf('python,javascript,bash,ruby')

const documentation = (names: readonly string[]) =>
  documentTools(
    names.map((name) =>
      defineTool({
        name,
        description: 'Expenses of one employee.',
        effect: 'read',
        input: z.object({ employee_id: z.string(), quarter: z.enum(['Q1', 'Q2']), limit: z.int().optional() }),
        output: z.null(),
        run: () => null,
      }),
    ),
    undefined,
    language,
  )

it('the prompt for several languages documents the tools once, and shows a call in each language', async () => {
  const { tools } = buildPrompt({ language, tools: documentation(['get_expenses', 'fetch']), limits: defaultLimits })
  const [codeTool] = tools
  await expect(`${codeTool?.description}\n`).toMatchFileSnapshot('several-languages.golden.txt')
  expect(codeTool?.inputSchema).toEqual({
    type: 'object',
    properties: {
      language: { type: 'string', enum: ['python', 'javascript', 'bash', 'ruby'] },
      code: { type: 'string' },
    },
    required: ['code'],
    additionalProperties: false,
  })
})

it('the model of a run with one language names none', () => {
  const [codeTool] = buildPrompt({ tools: documentation(['get_expenses']), limits: defaultLimits }).tools
  expect(codeTool?.inputSchema).toHaveProperty('properties', { code: { type: 'string' } })
})

it('without tools, the prompt for several languages shows no call', () => {
  const [codeTool] = buildPrompt({ language, tools: [], limits: defaultLimits }).tools
  expect(codeTool?.description).toMatch(/- `javascript`: [^\n]* Print with console.log\.\n/)
})

it('the example of a call is short', () => {
  const [tool] = documentation(['get_expenses'])
  if (!tool) throw new Error('no documentation')
  const short = { employee_id: 'ENG001', quarter: 'Q2' }
  const long = { employee_id: 'x'.repeat(500), quarter: 'Q1' }
  expect(exampleCallOf({ ...tool, inputExamples: [long, short] })).toEqual({ codeName: 'get_expenses', input: short })
  const made = { employee_id: '...', quarter: 'Q1' }
  expect(exampleCallOf({ ...tool, inputExamples: [long] }).input).toEqual(made)
  expect(exampleCallOf({ ...tool, inputSchema: {}, inputExamples: [] }).input).toEqual({})
})

it('the environment of a run is no language of its code', () => {
  const build = (name: string) =>
    buildPrompt({
      language: languageOf(name),
      tools: documentation(['get_expenses']),
      limits: defaultLimits,
      environment: { tools: ['read_file', 'run_code'] },
    })
  const plain = buildPrompt({ tools: documentation(['get_expenses']), limits: defaultLimits })
  const one = build('python,environment')
  const [ofEnvironment, ofPlain] = [one.tools[0], plain.tools[0]]
  expect(ofEnvironment?.inputSchema).toEqual(ofPlain?.inputSchema)
  const guidance =
    'Programs have the tools for files as a command: `environment grep pattern=TODO path=src`, `environment --help`.'
  expect(ofEnvironment?.description.replace(`${guidance}\n\n`, '')).toBe(ofPlain?.description)
  expect(one.tools.map(({ name }) => name)).toEqual(['execute_code', 'read_file', 'run_code'])
  const [codeTool, , runCode] = build('python,bash,environment').tools
  const enumOf = (schema: unknown) =>
    (schema as { properties: { language: { enum: unknown } } }).properties.language.enum
  expect(enumOf(codeTool?.inputSchema)).toEqual(['python', 'bash'])
  expect(enumOf(runCode?.inputSchema)).toEqual(['python', 'bash'])
  expect(JSON.stringify(codeTool)).not.toMatch(/environment`/)
})
