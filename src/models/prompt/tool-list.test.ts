import { expect, it } from 'vitest'
import { documentManyTools } from '../../../test/support/many-tools.js'
import { defaultLanguage } from '../../languages/index.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'
import { listTools } from './tool-list.js'

const [sample] = documentManyTools()

function tool(name: string): ToolDocumentation {
  if (!sample) throw new Error('there are tools')
  return { ...sample, name, description: `Does ${name}. And more.` }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** 1,200 tools of one server in 40 groups, of which the first are small. */
const api = numbers(40).flatMap((group) =>
  numbers(group < 10 ? 3 : 39).map((each) => tool(`api__group${'x'.repeat(group)}_verb${each}`)),
)

const characters = (lines: readonly string[]) => lines.join('\n').length

it('few tools have a line with a summary each', () => {
  const { lines, isGrouped } = listTools([tool('look_up'), tool('api__get')], defaultLanguage)
  expect(lines).toEqual([
    'look_up(customer_id, department, since, limit)  # Does look_up.',
    'api__get(customer_id, department, since, limit)  # Does api__get.',
  ])
  expect(isGrouped).toBe(false)
})

it('more than a thousand tools become groups, and small groups stay whole', () => {
  const { lines, isGrouped } = listTools(api, defaultLanguage)
  expect(isGrouped).toBe(true)
  expect(characters(lines)).toBeLessThan(13_000)
  expect(lines.filter((line) => line.startsWith('api__group_'))).toHaveLength(3)
  const large = `api__group${'x'.repeat(20)}`
  expect(lines.find((line) => line.startsWith(`${large}_`))).toBe(
    `${large}_verb0(customer_id, department, since, limit)  # and 38 more ${large}…: verb0, verb1, verb2, verb3, verb4, verb5, verb6, verb7, verb8, verb9, …`,
  )
})

it('a server with many tools takes no summaries from other tools', () => {
  const own = numbers(20).map((index) => tool(`own${index}`))
  const { lines } = listTools([...own, ...api], defaultLanguage)
  for (const { name } of own)
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${name}\\(.*# Does ${name}\\.$`)))
})

it('so many groups that they do not fit become one line', () => {
  const many = numbers(2_000).map((index) =>
    tool(`api__${String.fromCharCode(97 + (index % 26))}${'abcdefghij'[index % 10]}${index}_get`),
  )
  const { lines } = listTools(many, defaultLanguage)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('# and 1999 more api__…: ')
})

it('a list is the same at each turn', () => {
  expect(listTools(api, defaultLanguage)).toEqual(listTools([...api], defaultLanguage))
})
