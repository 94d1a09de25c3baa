import { expect, it } from 'vitest'
import { createAgents, defineAgent, subagents, toolNamesOf, withoutClones } from '../../agents/index.js'
import { createRegistry } from '../registry.js'
import { subagent } from './subagent.js'

it('a tool that starts clones is called by a model and by code, and may have a name and an approval', () => {
  expect(subagent()).toMatchObject({
    name: 'subagent',
    effect: 'idempotent',
    allowedCallers: ['direct', 'code_execution'],
    remote: { kind: 'workflow', type: 'agent', agent: {} },
  })
  expect(subagent({ name: 'helper', approval: 'always' })).toMatchObject({ name: 'helper', approval: true })
})

it('an agent names the tool like any other, beside its sub-agents, and a clone has all but this tool', () => {
  const about = { instructions: 'Test.', description: 'Tests.' }
  const writer = defineAgent({ name: 'writer', ...about, tools: [] })
  const chief = defineAgent({ name: 'chief', ...about, tools: ['subagent'], agents: [writer] })
  const tools = [subagent()]
  const registry = createRegistry([...tools, ...subagents([writer, chief], tools)])
  const agents = createAgents([writer, chief], registry)
  const names = toolNamesOf(registry, agents.get('chief'))
  expect(names).toEqual(['subagent', 'writer'])
  expect(withoutClones(registry, names)).toEqual(['writer'])
  expect(toolNamesOf(registry, undefined)).toEqual(['subagent'])
})
