import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './index.js'
import { ownToolQueues } from './own-queues.js'
import { createRegistry } from './registry.js'

const shared = { description: 'A tool.', input: z.object({}), output: z.null(), effect: 'read' } as const

it('finds the own queues of tools, once each, and none for Nexus', () => {
  const local = (name: string, options: { taskQueue?: string; rate?: { perSecond: number } } = {}) =>
    defineTool({ ...shared, name, run: () => null, ...options })
  const registry = createRegistry([
    local('plain'),
    local('own', { taskQueue: 'gpu' }),
    local('same', { taskQueue: 'gpu' }),
    local('limited', { rate: { perSecond: 1 } }),
    defineTool({ ...shared, name: 'child', workflow: { type: 'report', taskQueue: 'gpu' } }),
    defineTool({ ...shared, name: 'nexus', nexus: { endpoint: 'e', service: 's', operation: 'o' } }),
  ])
  const queues = ownToolQueues('main', registry.toolConfigs())
  expect(queues.map(({ name, type, tools }) => [name, type, tools.map((tool) => tool.name)])).toEqual([
    ['gpu', 'activity', ['own', 'same']],
    ['main.tool.limited', 'activity', ['limited']],
    ['gpu', 'workflow', ['child']],
  ])
})
