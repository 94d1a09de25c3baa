import { describe, expect, it } from 'vitest'
import { integerUpTo, parseLimits, parseRoles, parseTemperature, parseThinking, parseLogLevel } from './options.js'

describe('parseRoles', () => {
  it('parseRoles returns each role once, in their fixed order', () => {
    expect(parseRoles('tools, workflow,tools')).toEqual(['workflow', 'tools'])
  })

  it.each(['', 'tool', 'workflow,,tools'])('parseRoles rejects %j and lists the roles', (text) => {
    expect(() => parseRoles(text)).toThrow(/there are workflow, model, tools, sandbox/)
  })
})

describe('integerUpTo', () => {
  it('accepts a whole number in the range of an option', () => {
    expect(integerUpTo(10)('10')).toBe(10)
  })

  it.each(['0', '11', '-1', '1.5', '1e1', '', 'ten', ' 3'])('rejects %j as a whole number from 1 to 10', (text) => {
    expect(() => integerUpTo(10)(text)).toThrow('It must be a whole number from 1 to 10.')
  })
})

describe('parseLimits', () => {
  it('--limits joins several lists, and the last value of a limit counts', () => {
    expect(parseLimits('cpus=0.5, turns=9', parseLimits('turns=5,callsPerRun=1_000'))).toEqual({
      turns: 9,
      callsPerRun: 1_000,
      cpus: 0.5,
    })
  })

  it.each(['', 'turns', 'turns=', 'turns=many', 'turns=1.2.3', 'turns=-1', '=5'])('--limits rejects %j', (text) => {
    expect(() => parseLimits(text)).toThrow(/NAME=NUMBER/)
  })
})

describe('parseThinking', () => {
  it.each([
    ['adaptive', 'adaptive'],
    ['off', 'off'],
    ['2048', { budgetTokens: 2_048 }],
  ])('--thinking reads %s', (text, thinking) => {
    expect(parseThinking(text)).toEqual(thinking)
  })

  it.each(['', 'on', '1023', '-2048', '2048.5'])('--thinking rejects %j', (text) => {
    expect(() => parseThinking(text)).toThrow(/adaptive, off, or a number/)
  })
})

it.each(['', '-1', '2.1', '1e1', '1.2.3', 'warm'])('--temperature rejects %j', (text) => {
  expect(() => parseTemperature(text)).toThrow('It must be a number from 0 to 2.')
})

it('accepts a log level in upper and lower case', () => {
  expect(['info', 'INFO', 'Warn'].map(parseLogLevel)).toEqual(['INFO', 'INFO', 'WARN'])
  expect(() => parseLogLevel('loud')).toThrow('It must be one of DEBUG, INFO, WARN, ERROR.')
})
