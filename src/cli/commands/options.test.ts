import { describe, expect, it } from 'vitest'
import { parseRoles, integerUpTo } from './options.js'

describe('parseRoles', () => {
  it('returns each role once, in their fixed order', () => {
    expect(parseRoles('tools, workflow,tools')).toEqual(['workflow', 'tools'])
  })

  it.each(['', 'tool', 'workflow,,tools'])('rejects %j and lists the roles', (text) => {
    expect(() => parseRoles(text)).toThrow(/there are workflow, model, tools, sandbox/)
  })
})

describe('integerUpTo', () => {
  it('accepts numbers in the range', () => {
    expect(integerUpTo(10)('10')).toBe(10)
  })

  it.each(['0', '11', '-1', '1.5', '1e1', '', 'ten', ' 3'])('rejects %j', (text) => {
    expect(() => integerUpTo(10)(text)).toThrow('It must be a whole number from 1 to 10.')
  })
})
