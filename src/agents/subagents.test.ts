import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../test/support/tools.js'
import { createRegistry } from '../tools/registry.js'
import { type Agent, createAgents, defineAgent, subagents, toolNamesOf } from './index.js'

const instructions = 'You look things up.'
const description = 'Looks things up.'
const lookup = tool('lookup', () => null)
const failure = (code: string, message: unknown) => expect.objectContaining({ code, message })

function agent(name: string, agents: readonly (string | Agent)[] = [], more: object = {}) {
  return defineAgent({ name, instructions, description, agents, ...more })
}

function configure(agents: readonly Agent[], tools = [lookup]) {
  const registry = createRegistry([...tools, ...subagents(agents, tools)])
  return { registry, agents: createAgents(agents, registry) }
}

describe('a sub-agent', () => {
  it('a sub-agent is a tool with its name, its description, the schema of its answer and its budget', () => {
    const output = z.object({ total: z.int(), note: z.string().default('') })
    const analyst = agent('analyst', [], { output, budget: { turns: 3, whenSpent: 'pause' } })
    const { registry } = configure([analyst, agent('chief', [analyst])])
    expect(registry.names).toEqual(['lookup', 'analyst'])
    const created = registry.get('analyst')
    expect(created).toMatchObject({ effect: 'idempotent', allowedCallers: ['direct', 'code_execution'] })
    expect(created?.description).toMatch(/^Looks things up\./)
    expect(created?.inputSchema).toMatchObject({ required: ['task'] })
    expect(created?.outputSchema).toMatchObject({ required: ['total'] })
    expect(created?.remote).toEqual({
      kind: 'workflow',
      type: 'agent',
      agent: { name: 'analyst', budget: { turns: 3 } },
    })
    expect(registry.documentation()[1]?.stub).toContain('async def analyst(task: str)')
  })

  it('only the model calls a sub-agent that uses the sandbox of its parent', () => {
    const cleaner = agent('cleaner', [], { sandbox: 'parent' })
    const { registry } = configure([cleaner, agent('chief', [cleaner])])
    const created = registry.get('cleaner')
    expect(created?.allowedCallers).toEqual(['direct'])
    expect(created?.remote).toMatchObject({ agent: { name: 'cleaner', sharesSandbox: true } })
    expect(created?.description).toContain('it sees your variables')
  })

  it('only agents that name a sub-agent have its tool', () => {
    const writer = agent('writer')
    const analyst = agent('analyst', ['writer'], { tools: [] })
    const { registry } = configure([writer, analyst, agent('chief', [writer, analyst])])
    const namesOf = (name: string) => toolNamesOf(registry, configure([writer, analyst]).agents.get(name))
    expect(namesOf('analyst')).toEqual(['writer'])
    expect(namesOf('writer')).toEqual(['lookup'])
    expect(toolNamesOf(registry, undefined)).toEqual(['lookup'])
  })

  it('an agent may have the name of a tool, or no description, while no agent starts it', () => {
    const analyst = defineAgent({ name: 'lookup', instructions })
    expect(configure([analyst]).registry.names).toEqual(['lookup'])
  })
})

it.each([
  ['an unknown agent', [agent('chief', ['analist']), agent('analyst')], 'AGENT_UNKNOWN', 'Did you mean "analyst"?'],
  ['itself', [agent('chief', ['chief'])], 'CONFIG_INVALID', "can't start itself: chief starts chief"],
  [
    'itself through others',
    [agent('chief', ['a']), agent('a', ['b']), agent('b', ['a'])],
    'CONFIG_INVALID',
    "can't start itself: a starts b starts a",
  ],
  [
    'an agent with the name of a tool',
    [agent('chief', ['lookup']), agent('lookup')],
    'CONFIG_INVALID',
    'name of a tool',
  ],
  [
    'an agent without a description',
    [agent('chief', ['a']), defineAgent({ name: 'a', instructions })],
    'CONFIG_INVALID',
    'agent a: description is missing',
  ],
  ['another agent of the same name', [agent('chief', [agent('a')]), agent('a')], 'CONFIG_INVALID', 'another agent a'],
  [
    'an agent among its tools',
    [agent('a'), agent('chief', ['a']), agent('b', [], { tools: ['a'] })],
    'CONFIG_INVALID',
    'agent b: a is an agent and not a tool',
  ],
])('refuses an agent that starts %s', (_name, agents, code, message) => {
  expect(() => configure(agents)).toThrow(failure(code, expect.stringContaining(message)))
})

it.each([
  [{ agents: 'writer' }, 'agent a: agents must be an array of agents, or of their names'],
  [{ description: ' ' }, 'agent a: description must be a text'],
])('defineAgent refuses %j', (change, message) => {
  expect(() => defineAgent({ name: 'a', instructions, ...change } as never)).toThrow(failure('CONFIG_INVALID', message))
})
