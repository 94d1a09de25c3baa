import { expect, it } from 'vitest'
import { type ModelSettings, overrideSettings, problemOfSettings } from './model-settings.js'

const budget = { budgetTokens: 2_000 }

it.each<readonly [ModelSettings, ModelSettings, ModelSettings]>([
  [{}, {}, {}],
  [{ temperature: 1, effort: 'low' }, { temperature: 0 }, { temperature: 0, effort: 'low' }],
  [{ thinking: budget }, { thinking: 'off', effort: 'max' }, { thinking: 'off', effort: 'max' }],
  [{ temperature: 0 }, { thinking: 'adaptive' }, { thinking: 'adaptive' }],
  [{ temperature: 0 }, { thinking: 'off' }, { temperature: 0, thinking: 'off' }],
  [{ thinking: budget }, { temperature: 0 }, { temperature: 0 }],
  [{ thinking: 'off' }, { temperature: 0 }, { temperature: 0, thinking: 'off' }],
])('the settings %j with the overrides %j are %j', (base, overrides, merged) => {
  expect(overrideSettings(base, overrides)).toEqual(merged)
})

it('overrides keep other members, and do not change the first settings', () => {
  const base = { name: 'm', temperature: 0 }
  expect(overrideSettings(base, { thinking: 'adaptive' })).toEqual({ name: 'm', thinking: 'adaptive' })
  expect(base).toEqual({ name: 'm', temperature: 0 })
})

it.each<readonly [ModelSettings, number | undefined, string | undefined]>([
  [{ temperature: 0, thinking: 'off' }, 100, undefined],
  [{ thinking: budget }, 2_001, undefined],
  [{ thinking: budget }, undefined, undefined],
  [{ thinking: 'adaptive' }, 1, undefined],
  [{ temperature: 0, thinking: 'adaptive' }, 100, 'temperature and thinking exclude each other'],
  [{ thinking: budget }, 2_000, 'thinking.budgetTokens is 2000; it must be less than model.maxTokens (2000)'],
])('the problem of %j with %s tokens is: %s', (settings, maxTokens, problem) => {
  expect(problemOfSettings(settings, maxTokens)).toBe(problem)
})
