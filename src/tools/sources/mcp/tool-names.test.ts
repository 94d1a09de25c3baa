import { expect, it } from 'vitest'
import { mcpToolNames } from './tool-names.js'

it('names a tool by its server, with characters of an identifier, whatever the order of the tools', () => {
  const tools = ['get-issue', 'get_issue', 'list.issues', 'x'.repeat(80)]
  const names = mcpToolNames('github', tools)
  expect([...names]).toEqual([
    ['get-issue', expect.stringMatching(/^github__get_issue_[0-9a-f]{8}$/)],
    ['get_issue', 'github__get_issue'],
    ['list.issues', 'github__list_issues'],
    ['x'.repeat(80), expect.stringMatching(/^github__x{47}_[0-9a-f]{8}$/)],
  ])
  expect(new Map([...mcpToolNames('github', tools.toReversed())].toReversed())).toEqual(names)
})
