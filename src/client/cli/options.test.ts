import { describe, expect, it } from 'vitest'
import { roleList, wholeNumber } from './options.js'

describe('roleList', () => {
  it('takes each role once, in the order of the design', () => {
    expect(roleList('tools, workflow,tools')).toEqual(['workflow', 'tools'])
  })

  it.each(['', 'tool', 'workflow,,tools'])('refuses %j and says what there is', (text) => {
    expect(() => roleList(text)).toThrow(/there are workflow, model, tools, sandbox/)
  })
})

describe('wholeNumber', () => {
  it('takes what is in range', () => {
    expect(wholeNumber(10)('10')).toBe(10)
  })

  it.each(['0', '11', '-1', '1.5', '1e1', '', 'ten', ' 3'])('refuses %j', (text) => {
    expect(() => wholeNumber(10)(text)).toThrow('It must be a whole number from 1 to 10.')
  })
})
