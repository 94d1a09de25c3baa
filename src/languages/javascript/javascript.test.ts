import { expect, it } from 'vitest'
import { languageOf, languageOfFile, languages, problemOfLanguage } from '../index.js'

const javascript = languageOf('javascript')

it.each([
  [null, 'null'],
  ['abc', 'a string of 3 characters'],
  [true, 'a boolean'],
  [1, 'a number'],
  [1.5, 'a number'],
  [[], 'an array of 0 items'],
  [[{ id: 1, name: 'x' }], 'an array of 1 item; the first is an object with the keys "id", "name"'],
  [{}, 'an object without keys'],
  [{ a: 1 }, 'an object with the keys "a"'],
])('JavaScript describes %j as %s', (value, expected) => {
  expect(javascript.describeValue(value)).toBe(expected)
})

it.each([
  ['await get_expenses({ id: "E1" })', ['get_expenses']],
  ['get_expenses({ id: "E1" });', ['get_expenses']],
  ['a({ x: "){" })\nawait b({})', ['a', 'b']],
  ['list_all()', ['list_all']],
  ['await Promise.all([a({ x: 1 }), b()]);', ['a', 'b']],
  ['server.tool({ x: [1] })', ['server.tool']],
])('in JavaScript, %j consists of calls', (text, expected) => {
  expect(javascript.callsIn(text)).toEqual(expected)
})

it.each([
  'const x = await get_expenses({})',
  'console.log(1)',
  'get_expenses({ id: 1 }).then(console.log)',
  'I call get_expenses({}).',
  'get_expenses({',
  'Promise.all(calls)',
])('in JavaScript, %j does not consist of calls', (text) => {
  expect(javascript.callsIn(text)).toEqual([])
})

it('a tool in one line of JavaScript has the members of its object, and a comment', () => {
  expect(javascript.summarizeTool('get_it', ['id', 'first-name'], 'Gets it.')).toBe(
    'get_it({ id, "first-name" })  // Gets it.',
  )
  expect(javascript.summarizeTool('list', [], '')).toBe('list()')
})

it('the texts of JavaScript name what the model must know of its environment and of calls', () => {
  const limits = { cellSeconds: 90, outputCharacters: 20_000, callsPerCell: 1_000 }
  const text = javascript.describeEnvironment(limits, { inputDescription: 'an array of 2 items' })
  for (const part of ['Node.js', 'console.log', '20,000', '90 seconds', '`input_data`', 'no network', 'enums'])
    expect(text).toContain(part)
  const embedded = javascript.describeEnvironment(limits, { isEmbedded: true })
  for (const part of ['QuickJS', 'no module', 'plain JavaScript']) expect(embedded).toContain(part)
  expect(embedded).not.toMatch(/Node|imports|TypeScript/)
  const typed = languageOf('typescript').describeEnvironment(limits, { isEmbedded: true })
  for (const part of ['Runs TypeScript in QuickJS', 'Types are removed, not checked', 'no enums'])
    expect(typed).toContain(part)
  expect(typed).not.toMatch(/Node|imports|plain/)
  expect(javascript.describeEnvironment(limits, { hasPackages: true })).not.toContain("Node's own modules")
  const tools = javascript.describeTools(['declare function a(): Promise<null>'], { toolSearch: true, isGrouped: true })
  for (const part of ['```typescript\ndeclare', 'ToolOutcomeUnknown', 'Promise.all', 'search_tools'])
    expect(tools).toContain(part)
  expect(javascript.describeTools([], {})).toBe('No tools can be called from code here.')
  expect(`${text}${tools}`).not.toMatch(/python|asyncio|docstring/i)
})

it.each([
  ['report.py', 'python'],
  ['a/b.mjs', 'javascript'],
  ['report.js', 'javascript'],
  ['report.ts', 'typescript'],
  ['report.txt', undefined],
  ['-', undefined],
])('the language of the file %s is %s', (file, expected) => {
  expect(languageOfFile(file)?.name).toBe(expected)
})

it('no two languages share a name or an ending, and an unknown language is told the known ones', () => {
  const endings = languages.flatMap(({ extension, otherExtensions = [] }) => [extension, ...otherExtensions])
  expect(new Set(endings).size).toBe(endings.length)
  expect(new Set(languages.map(({ name }) => name)).size).toBe(languages.length)
  expect(problemOfLanguage('javascript')).toBeUndefined()
  expect(problemOfLanguage('cobol')).toMatch(
    /^there is no language "cobol"; there are: python, javascript, typescript, bash, /,
  )
  expect(problemOfLanguage('x'.repeat(10_000))?.length).toBeLessThan(200)
  expect(problemOfLanguage(7)).toMatch(/^a language is one of python, javascript, typescript, bash, /)
})
