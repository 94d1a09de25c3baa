import { expect, it } from 'vitest'
import type { RecordedSkill } from '../../common/agent/skills.js'
import { externalValue } from '../../common/json/external-value.js'
import { ActiveSkills } from './active-skills.js'

const skill = (name: string, more: Partial<RecordedSkill> = {}): RecordedSkill => ({
  name,
  digest: 'd',
  instructions: externalValue({ sha256: name, bytes: 1, preview: '' }),
  ...more,
})
const all = [
  skill('free'),
  skill('reader', { allowedTools: ['read', 'list'] }),
  skill('lister', { allowedTools: ['list'], missingTools: ['Bash'] }),
  skill('none', { allowedTools: [] }),
  skill('secret', { isHidden: true, allowedTools: ['read'] }),
]
const tools = ['read', 'list', 'write']

function skills(active?: readonly string[]) {
  const made = new ActiveSkills({ all, list: 'the list', ...(active && { active }) })
  const allowed = () => tools.filter((tool) => made.refusalOf(tool) === undefined)
  return { made, allowed }
}

it('a run without skills restricts nothing, and has no state', () => {
  const made = new ActiveSkills()
  expect([made.state, made.ofTurn(true), made.hasTools, made.isRestricting]).toEqual([
    undefined,
    undefined,
    false,
    false,
  ])
  expect(made.refusalOf('write')).toBeUndefined()
})

it('each active skill restricts the tools, and skills without allowed-tools restrict none', () => {
  const { made, allowed } = skills()
  made.activate('free')
  expect([allowed(), made.isRestricting]).toEqual([tools, false])
  made.activate('reader')
  expect([allowed(), made.isRestricting]).toEqual([['read', 'list'], true])
  made.activate('lister')
  expect(allowed()).toEqual(['list'])
  expect(made.refusalOf('read')).toContain('skill lister is active: it allows only list (this run has no Bash)')
  made.deactivate('lister')
  expect(allowed()).toEqual(['read', 'list'])
  made.activate('none')
  expect(allowed()).toEqual([])
  expect(made.refusalOf('read')).toContain('it allows no tool of this run')
})

it.each([
  ['unknown', 'nothing'],
  ['hidden', 'secret'],
  ['an object', {}],
  ['missing', undefined],
  ['a member of each object', 'constructor'],
])('the model can not activate a skill whose name is %s', (_what, name) => {
  const { made, allowed } = skills()
  expect(made.activate(name)).toContain('there is no skill')
  expect(made.deactivate(name)).toContain('there is no active skill')
  expect(allowed()).toEqual(tools)
})

it('the model can not deactivate what the start of the run has activated', () => {
  const { made, allowed } = skills(['secret'])
  expect(made.deactivate('secret')).toContain('activated by the user')
  expect(made.activate('secret')).toContain('there is no skill')
  made.reset()
  expect(allowed()).toEqual(['read'])
  expect(made.ofTurn()).toEqual({ list: 'the list', instructions: [all[4]?.instructions] })
})

it('instructions are in the prompt from a compaction until the skill is deactivated', () => {
  const { made } = skills()
  made.activate('free')
  expect(made.ofTurn()).toEqual({ list: 'the list' })
  expect(made.ofTurn(true)).toEqual({ list: 'the list', instructions: [all[0]?.instructions] })
  made.moveToPrompt()
  expect(made.ofTurn()?.instructions).toHaveLength(1)
  made.deactivate('free')
  expect(made.ofTurn()).toEqual({ list: 'the list' })
})

it('the state for the next execution keeps what is active', () => {
  const { made } = skills(['secret'])
  made.activate('lister')
  made.moveToPrompt()
  const next = new ActiveSkills({ all, list: 'the list', active: ['secret'] }, structuredClone(made.state))
  expect(next.ofTurn()).toEqual(made.ofTurn())
  expect([next.refusalOf('list'), next.deactivate('secret')]).toEqual([
    'list may not be called while skill secret is active: it allows only read',
    expect.stringContaining('stays active'),
  ])
})
