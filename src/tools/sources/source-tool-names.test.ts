import { expect, it } from 'vitest'
import { sourceToolNames } from './source-tool-names.js'

const named = (names: readonly string[]) => names.map((name) => ({ key: name, name }))

it('names a tool by its source, with characters of an identifier, whatever the order of the tools', () => {
  const tools = ['get-issue', 'get_issue', 'list.issues', 'x'.repeat(80)]
  const names = sourceToolNames('github', named(tools))
  expect([...names]).toEqual([
    ['get-issue', expect.stringMatching(/^github__get_issue_[0-9a-f]{8}$/)],
    ['get_issue', 'github__get_issue'],
    ['list.issues', 'github__list_issues'],
    ['x'.repeat(80), expect.stringMatching(/^github__x{47}_[0-9a-f]{8}$/)],
  ])
  expect(new Map([...sourceToolNames('github', named(tools.toReversed()))].toReversed())).toEqual(names)
})

it('two names that are equal in their first 64 characters, and two equal names, become different ones', () => {
  const long = ['a', 'b'].map((end) => ({ key: end, name: `${'x'.repeat(70)}${end}` }))
  const equal = ['GET /a', 'GET /b'].map((key) => ({ key, name: 'list' }))
  const names = [...sourceToolNames('api', [...long, ...equal]).values()]
  expect(new Set(names).size).toBe(4)
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_]{1,64}$/)
})
