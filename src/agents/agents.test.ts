import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../test/support/tools.js'
import { createRegistry } from '../tools/registry.js'
import type { Tool } from '../tools/tool.js'
import { createAgents, defineAgent, doneCheckArguments, toolNamesOf } from './index.js'

const instructions = 'You look things up.'
const lookup = tool('lookup', () => null)
const registry = createRegistry([lookup, tool('pay', () => null)])
const failure = (code: string, message: unknown) => expect.objectContaining({ code, message })

describe('defineAgent', () => {
  it('an agent has the JSON Schema of the answer that the model submits', () => {
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
    [{ sandbox: 'docker' }, "agent a: sandbox must be 'own' or 'parent', not \"docker\""],
    [{ mode: 'auto' }, 'agent a: there is no mode "auto"'],
    [{ doneCheck: 1, mode: 'autonomous' }, 'agent a: doneCheck must be a tool, or its name'],
    [{ doneCheck: 'lookup' }, "agent a: doneCheck needs mode: 'autonomous'"],
    [{ output: { type: 'object' } }, 'agent a: output must be a zod schema'],
    [{ output: z.date() }, expect.stringContaining("agent a: output can't be checked as JSON Schema")],
  ])('defineAgent refuses %o', (change, message) => {
    expect(() => defineAgent({ name: 'a', instructions, ...change } as never)).toThrow(
      failure('CONFIG_INVALID', message),
    )
  })
})

describe('createAgents', () => {
  it('finds an agent by its name, and suggests a similar one', () => {
    const analyst = defineAgent({ name: 'analyst', instructions, tools: [lookup, 'pay'] })
    const agents = createAgents([analyst], registry)
    expect(agents.require('analyst')).toBe(analyst)
    expect(toolNamesOf(registry, analyst)).toEqual(['lookup', 'pay'])
    expect(() => agents.require('analist')).toThrow(
      failure('AGENT_UNKNOWN', 'there is no agent named "analist". Did you mean "analyst"?'),
    )
  })

  it('refuses two agents with one name, unknown tools, other tools with the same name, and other objects', () => {
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

describe('doneCheck', () => {
  const output = z.object({ done: z.boolean(), reason: z.string().optional() })
  const agentWith = (doneCheck: Tool, tools?: readonly string[]) =>
    createAgents(
      [defineAgent({ name: 'a', instructions, mode: 'autonomous', doneCheck, ...(tools && { tools }) })],
      createRegistry([doneCheck, lookup]),
    )

  it('the done check is a tool of the agent that returns whether the work is done', () => {
    const agents = agentWith(tool('tests_pass', () => ({ done: true }), { output }))
    expect(agents.require('a')).toMatchObject({ mode: 'autonomous', doneCheck: 'tests_pass' })
    expect(() =>
      agentWith(
        tool('tests_pass', () => ({ done: true }), { output }),
        ['lookup'],
      ),
    ).toThrow(failure('TOOL_UNKNOWN', 'agent a has no tool tests_pass'))
  })

  it.each([
    [{ effect: 'idempotent' }, "must have effect: 'read'"],
    [{ approval: 'always' }, 'must not be deferred, or need approval'],
    [{ allowedCallers: ['code_execution'] }, "must allow the caller 'direct'"],
    [{ output: z.boolean() }, 'must return { done: boolean }, with a reason if it is false'],
    [{ output: z.object({ done: z.string() }) }, 'must return { done: boolean }, with a reason if it is false'],
    [{ input: z.object({ file: z.string() }) }, 'must not require arguments other than answer'],
  ] as const)('refuses a tool with %o as a done check', (change, problem) => {
    const check = tool('tests_pass', () => ({ done: true }), { output, ...change })
    expect(() => agentWith(check)).toThrow(failure('CONFIG_INVALID', `agent a: doneCheck tests_pass ${problem}`))
  })

  it('the done check gets the answer when it has an argument for it', () => {
    const takes = tool('check', () => null, { input: z.object({ answer: z.string() }) as never })
    expect(doneCheckArguments(takes, 'Done.')).toEqual({ answer: 'Done.' })
    expect(doneCheckArguments(lookup, 'Done.')).toEqual({})
  })
})
