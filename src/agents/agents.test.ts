import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../test/support/tools.js'
import { createRegistry } from '../tools/registry.js'
import { createAgents, defineAgent, toolNamesOf } from './index.js'

const instructions = 'You look things up.'
const lookup = tool('lookup', () => null)
const registry = createRegistry([lookup, tool('pay', () => null)])
const failure = (code: string, message: unknown) => expect.objectContaining({ code, message })

describe('defineAgent', () => {
  it('has the JSON Schema of what the model submits', () => {
    const output = z.object({ total: z.int(), note: z.string().default('') })
    const agent = defineAgent({ name: 'analyst', instructions: ` ${instructions}\n`, output })
    expect(agent).toMatchObject({ name: 'analyst', instructions, tools: undefined, limits: {}, output })
    expect(agent.outputSchema).toMatchObject({ type: 'object', required: ['total'] })
    expect(defineAgent({ name: 'writer', instructions }).outputSchema).toBeUndefined()
  })

  it.each([
    [{ name: 'two words' }, '"two words" can\'t be the name of an agent'],
    [{ instructions: ' ' }, 'agent a: instructions are missing'],
    [{ tool: [] }, 'agent a: unknown key "tool". Did you mean "tools"?'],
    [{ tools: 'lookup' }, 'agent a: tools must be an array of tools, or of their names'],
    [{ temperature: 3 }, 'agent a: temperature must be a number from 0 to 2'],
    [{ model: [] }, 'agent a: model must be a model id, or a list of them'],
    [{ model: '' }, 'agent a: model must be a model id, or a list of them'],
    [{ output: { type: 'object' } }, 'agent a: output must be a zod schema'],
    [{ output: z.date() }, expect.stringContaining("agent a: output can't be checked as JSON Schema")],
  ])('refuses %o', (change, message) => {
    expect(() => defineAgent({ name: 'a', instructions, ...change } as never)).toThrow(
      failure('CONFIG_INVALID', message),
    )
  })
})

describe('createAgents', () => {
  it('finds an agent, and suggests a name', () => {
    const analyst = defineAgent({ name: 'analyst', instructions, tools: [lookup, 'pay'] })
    const agents = createAgents([analyst], registry)
    expect(agents.require('analyst')).toBe(analyst)
    expect(toolNamesOf(registry, analyst)).toEqual(['lookup', 'pay'])
    expect(() => agents.require('analist')).toThrow(
      failure('AGENT_UNKNOWN', 'there is no agent named "analist". Did you mean "analyst"?'),
    )
  })

  it('refuses two agents of one name, unknown tools, other tools of the same name, and other objects', () => {
    const agent = (tools?: readonly (string | { name: string })[]) =>
      defineAgent({ name: 'a', instructions, ...(tools && { tools }) })
    expect(() => createAgents([agent(), agent()], registry)).toThrow(
      failure('AGENT_DUPLICATE', 'two agents are named a'),
    )
    expect(() => createAgents([agent(['lokup'])], registry)).toThrow(
      failure('TOOL_UNKNOWN', 'agent a: there is no tool named "lokup". Did you mean "lookup"?'),
    )
    expect(() => createAgents([agent([tool('lookup', () => 1)])], registry)).toThrow(
      failure('CONFIG_INVALID', 'agent a has another tool lookup than the configuration'),
    )
    expect(() => createAgents([{ name: 'a' }], registry)).toThrow(
      failure('CONFIG_INVALID', 'agents[0] is not an agent'),
    )
  })
})
