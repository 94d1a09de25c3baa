import { expect, it } from 'vitest'
import { defineLanguage, type CommandLanguage, languageOf, languageOfFile, problemOfLanguage } from './index.js'

const lua: CommandLanguage = { name: 'lua', title: 'Lua', run: ['/usr/bin/lua', '-W', '{file}'], file: 'cell.lua' }

it('a defined language is known from then on, and the dispatcher gets its command', () => {
  expect(problemOfLanguage('python,lua')).toMatch(/^there is no language "lua"; there are: python, /)
  expect(defineLanguage(lua)).toBe('lua')
  expect(defineLanguage({ ...lua })).toBe('lua')
  expect(problemOfLanguage('python,lua')).toBeUndefined()
  expect(languageOfFile('report.lua')?.name).toBe('lua')
  const { runner } = languageOf('bash,lua')
  expect(JSON.parse(runner.arguments?.[0] ?? '')).toEqual({
    bash: {},
    lua: { run: ['/usr/bin/lua', '-W', '{file}'], file: 'cell.lua' },
  })
  const example = { codeName: 'get', input: { id: 'a' } }
  expect(languageOf('lua').describeAsFurther(example)).toBe(
    'A whole Lua program, which lua executes as cell.lua. Keeps no variables. The result has its output and exit code. ' +
      'It calls a tool by a process: `tool get id=...` prints JSON.',
  )
})

it('a shipped command may be defined again, before which it has its own path', () => {
  const commandOf = () => languageOf('bash,java').runner.arguments?.[0]
  expect(commandOf()).toContain('/usr/bin/java')
  defineLanguage({ name: 'java', run: ['/opt/java/bin/java', '{file}'], file: 'Cell.java' })
  expect(commandOf()).toContain('/opt/java/bin/java')
  expect(commandOf()).not.toContain('/usr/bin/java')
})

it.each<readonly [string, Partial<Record<keyof CommandLanguage | 'versions', unknown>>]>([
  ['name must be a short word', { name: 'Lua' }],
  ['name must be a short word', { name: 'python,lua' }],
  ['name must be a short word', { name: undefined }],
  ['name must be a short word', { name: '__proto__' }],
  ['the name is taken', { name: 'python' }],
  ['the name is taken', { name: 'files' }],
  ['the name is taken', { name: 'environment' }],
  ['unknown key "versions"', { versions: [] }],
  ['version must begin with the path', { version: ['lua', '-v'] }],
  ['title must be a short text', { title: 'a\nb' }],
  ['file must be a name with an ending', { file: '../cell.lua' }],
  ['file must be a name with an ending', { file: 'cell' }],
  ['run must be a list of words', { run: '/usr/bin/lua {file}' }],
  ['run must be a list of words', { run: ['/usr/bin/lua', 7] }],
  ['run must begin with the path', { run: ['lua', '{file}'] }],
  ['run must begin with the path', { run: [] }],
  ['run must contain {file}', { run: ['/usr/bin/lua'] }],
])('a definition is refused: %s', (problem, changed) => {
  const definition = { ...lua, name: 'other', ...changed } as CommandLanguage
  expect(() => defineLanguage(definition)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(problem) }) as Error,
  )
})

it('a second definition of a name is refused', () => {
  defineLanguage({ ...lua, name: 'tcl' })
  expect(() => defineLanguage({ ...lua, name: 'tcl', file: 'cell.tcl' })).toThrow('another definition has this name')
})

it.each([
  [['python', 'ruby'], undefined],
  ['bash, perl', undefined],
  ['ruby', 'ruby keeps no variables: name another language before it, such as bash,ruby'],
  [['perl', 'python'], 'perl keeps no variables'],
  ['python,ruby,python', 'the language python is there twice'],
  [Array.from({ length: 1_000_000 }, () => 'python'), 'a run has at most 8 languages, not 1000000'],
  ['python,'.repeat(100), 'a run has at most 8 languages, not 101'],
  ['python,'.repeat(1_000), 'there is no language "python,python,python,python,python,pytho…"'],
  [['python,bash'], 'there is no language "python,bash"'],
  [[['python']], 'a language is one of'],
  [null, 'a language is one of'],
  ['toString', 'there is no language "toString"'],
])('the choice of languages %.60j: %s', (choice, problem) => {
  if (problem === undefined) expect(problemOfLanguage(choice)).toBeUndefined()
  else expect(problemOfLanguage(choice)).toContain(problem)
})
