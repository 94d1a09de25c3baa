import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defaultLimits } from '../../common/run/limits.js'
import { defineTool } from '../../index.js'
import { documentTools, type ToolDocumentation } from '../../tools/documentation/document-tools.js'
import { languageOf } from '../../languages/index.js'
import { buildPrompt, type Prompt } from './prompt.js'

const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

const getExpenses: ToolDocumentation = {
  name: 'get_expenses',
  description: 'Expenses of one employee.',
  allowedCallers: ['code_execution'],
  offeredTo: ['code_execution'],
  inputSchema,
  inputExamples: [{ id: 'ENG001' }],
  stub: 'async def get_expenses(id: str) -> list[Expense]:\n    """Expenses of one employee."""\n',
  signature: 'async def get_expenses(id: str) -> list[Expense]: ...',
}

const askPerson: ToolDocumentation = {
  name: 'ask_person',
  description: 'Asks a person.',
  allowedCallers: ['direct'],
  offeredTo: ['direct'],
  inputSchema,
  inputExamples: [{ id: 'alice' }],
  stub: 'async def ask_person(id: str) -> str:\n    """Asks a person."""',
  signature: 'async def ask_person(id: str) -> str: ...',
}

const search: ToolDocumentation = {
  ...askPerson,
  name: 'search',
  description: 'Searches.',
  allowedCallers: ['direct', 'code_execution'],
  offeredTo: ['direct', 'code_execution'],
  inputExamples: [],
  stub: 'async def search(id: str) -> str:\n    """Searches."""',
  signature: 'async def search(id: str) -> str: ...',
}

const limits = defaultLimits
const names = ({ tools }: Prompt) => tools.map(({ name }) => name)

function asText({ system, tools }: Prompt): string {
  const entries = tools.map(
    ({ name, description, inputSchema, inputExamples }) =>
      `=== tool ${name}\n${description}\n--- schema ${JSON.stringify(inputSchema)}\n--- examples ${JSON.stringify(inputExamples)}`,
  )
  return `${[`=== system\n${system}`, ...entries].join('\n\n')}\n`
}

describe('buildPrompt', () => {
  it('the prompt matches the golden file', async () => {
    const prompt = buildPrompt({
      tools: [getExpenses, askPerson, search],
      limits,
      instructions: 'You work for Acme.\n',
    })
    await expect(asText(prompt)).toMatchFileSnapshot('prompt.golden.txt')
  })

  it('the prompt does not claim that there is only the standard library when there may be packages', () => {
    const described = (hasPackages: boolean) => buildPrompt({ tools: [], limits, hasPackages }).tools[0]?.description
    expect(described(false)).toContain('There is the standard library only, and no network: reach')
    expect(described(true)).toContain('There is no network: reach')
  })

  it('the prompt documents a tool once, for both of its callers', () => {
    const [code, direct] = buildPrompt({ tools: [search], limits }).tools
    expect(direct).toMatchObject({ name: 'search', description: 'Searches.', inputSchema })
    expect(code?.description).toContain('```python\nasync def search(id: str) -> str: ...\n```')
    expect(code?.description).toContain('A function without a docstring is documented as the tool of the same name')
    expect(code?.description).not.toContain('Searches.')
    const [onlyCode] = buildPrompt({ tools: [getExpenses, askPerson], limits }).tools
    expect(onlyCode?.description).not.toContain('A function without a docstring')
  })

  it('the prompt documents a tool for code when its definition names no callers', () => {
    const definition = { name: 'a_tool', description: 'Does it.', input: z.object({}), output: z.null() }
    const documentation = documentTools([defineTool({ ...definition, effect: 'read', run: () => null })])
    const prompt = buildPrompt({ tools: documentation, limits })
    expect(names(prompt)).toEqual(['execute_code'])
    expect(prompt.tools[0]?.description).toContain('Does it.')
  })

  it('the prompt shows a tool only to the callers it is offered to', () => {
    const prompt = buildPrompt({ tools: [getExpenses, askPerson, search], limits })
    const [code] = prompt.tools
    expect(names(prompt)).toEqual(['execute_code', 'ask_person', 'search'])
    expect(code?.description).toContain('def get_expenses(')
    expect(code?.description).toContain('def search(')
    expect(code?.description).not.toContain('ask_person')
  })

  it('the prompt includes the code tool even when code can call no tool', () => {
    const prompt = buildPrompt({ tools: [askPerson], limits })
    expect(names(prompt)).toEqual(['execute_code', 'ask_person'])
    expect(prompt.tools[0]?.description).toContain('No tools can be called from code here.')
  })

  it('the prompt has the same bytes for the same tools', () => {
    const build = () => JSON.stringify(buildPrompt({ tools: [getExpenses, search], limits }))
    expect(build()).toBe(build())
  })

  it.each(['python', 'javascript'])('the prompt has rules in %s only where a tool needs them', (name) => {
    const describeWith = (input: z.ZodObject, effect: 'read' | 'idempotent' | 'once') => {
      const definition = { name: 'a_tool', description: 'Does it.', input, output: z.null(), effect }
      const language = languageOf(name)
      const documentation = documentTools([defineTool({ ...definition, run: () => null })], undefined, language)
      return buildPrompt({ tools: documentation, limits, language }).tools[0]?.description
    }
    const plain = describeWith(z.object({ id: z.string() }), 'read')
    expect(plain).not.toContain('2**53')
    expect(plain).toContain('its subclass ToolDenied or ToolTimedOut.')
    expect(describeWith(z.object({ count: z.int().optional() }), 'read')).toContain('Pass integers beyond 2**53')
    expect(describeWith(z.object({}), 'idempotent')).not.toContain('ToolOutcomeUnknown')
    expect(describeWith(z.object({}), 'once')).toContain('ToolOutcomeUnknown (it may have happened')
    // Earlier versions have recorded no effects.
    expect(buildPrompt({ tools: [search], limits }).tools[0]?.description).toContain('ToolOutcomeUnknown')
  })

  it('the prompt states the configured limits', () => {
    const tight = { ...limits, cellSeconds: 7, outputCharacters: 1_234_567, callsPerCell: 3 }
    const description = buildPrompt({ tools: [], limits: tight }).tools[0]?.description
    expect(description).toContain('7 seconds')
    expect(description).toContain('1,234,567 characters')
    expect(description).toContain('3 tool calls')
  })

  it.each([
    [{ type: 'named', name: 'books' }, 'The sandbox is session books, which others use, too'],
    [{ type: 'parent' }, 'The sandbox is that of the agent that gave you the task'],
  ] as const)('the prompt says which variables code sees: %o', (sharedSession, text) => {
    expect(buildPrompt({ tools: [], limits, sharedSession }).tools[0]?.description).toContain(text)
    expect(buildPrompt({ tools: [], limits }).tools[0]?.description).not.toContain('The sandbox is')
  })

  it('the prompt rejects a tool with the name of the code tool', () => {
    expect(() => buildPrompt({ tools: [{ ...search, name: 'execute_code' }], limits })).toThrow(
      expect.objectContaining({ code: 'TOOL_DUPLICATE' }) as Error,
    )
  })
})

it('a plain conversation has no tool of the engine, except the tool for an answer with a schema', () => {
  const plain = { tools: [search], limits, instructions: 'Be short.', isPlain: true }
  expect(buildPrompt(plain)).toMatchObject({ system: 'Be short.', tools: [{ name: search.name }] })
  expect(buildPrompt({ ...plain, tools: [] })).toEqual({ system: 'Be short.', tools: [] })
  const prompt = buildPrompt({ ...plain, outputSchema: { type: 'object' } })
  expect(names(prompt)).toEqual([search.name, 'submit_answer'])
})
