import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './define-tool.js'
import { liveRegistry } from './live-registry.js'
import { createRegistry } from './registry.js'
import { findRunTools } from './sources/tool-set.js'

const tool = (name: string, description: string) =>
  defineTool({ name, description, input: z.object({}), output: z.null(), effect: 'read', run: () => null })

it('a live registry has the tools of today, finds those of before, and knows the sets that open runs recorded', () => {
  const before = createRegistry([tool('write', 'Old.'), tool('gone', 'Gone.')])
  const after = createRegistry([tool('write', 'New.'), tool('fresh', 'Fresh.')])
  const { registry, replace } = liveRegistry(before)
  const { digest } = registry
  replace(after)
  expect(registry.names).toEqual(['write', 'fresh'])
  expect(registry.current).toBe(after)
  expect(registry.get('write')?.description).toBe('New.')
  expect(registry.get('gone')?.description).toBe('Gone.')
  expect(findRunTools(registry, { digest })).toEqual({ registry: before, registryMatchesRun: true })
  expect(findRunTools(registry, { digest: after.digest })).toEqual({ registry: after, registryMatchesRun: true })
  const subset = findRunTools(registry, { digest: before.subset(['gone']).digest, names: ['gone'] })
  expect(subset).toEqual({ registry: before.subset(['gone']), registryMatchesRun: true })
  expect(findRunTools(registry, { digest: 'another' })).toEqual({ registry, registryMatchesRun: false })
})

it('a live registry keeps each earlier set once, and the latest ten', () => {
  const sets = Array.from({ length: 14 }, (_, index) => createRegistry([tool(`tool_${index}`, 'A tool.')]))
  const [first, ...others] = sets
  if (!first) throw new Error('there is no set')
  const { registry, replace } = liveRegistry(first)
  for (const next of [...others, ...sets.slice(-2)]) replace(next)
  expect(registry.current).toBe(sets.at(-1))
  expect(registry.earlier.map(({ names }) => names[0])).toEqual([
    'tool_12',
    'tool_11',
    'tool_10',
    'tool_9',
    'tool_8',
    'tool_7',
    'tool_6',
    'tool_5',
    'tool_4',
    'tool_3',
  ])
})
