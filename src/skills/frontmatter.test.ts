import { expect, it } from 'vitest'
import { skillLimits } from './limits.js'
import { parseSkill } from './frontmatter.js'

const parse = (text: string | Uint8Array) =>
  parseSkill(typeof text === 'string' ? Buffer.from(text) : text, 'pdf/SKILL.md')
const withLines = (...lines: readonly string[]): string => ['---', ...lines, '---', 'Do it.'].join('\n')
const valid = ['name: pdf', 'description: Reads PDFs.']

it('a SKILL.md has a name, a description, and instructions after them', () => {
  expect(parse(withLines(...valid))).toEqual({
    header: {
      name: 'pdf',
      description: 'Reads PDFs.',
      license: undefined,
      compatibility: undefined,
      metadata: {},
      allowedTools: undefined,
      isHidden: false,
    },
    instructions: 'Do it.',
    warnings: [],
  })
})

it('a SKILL.md has all optional members of the format', () => {
  const { header } = parse(
    withLines(
      ...valid,
      'license: Apache-2.0',
      'compatibility: Requires Python',
      'metadata:',
      '  author: example-org',
      '  version: 1.5',
      'allowed-tools: Bash(git add:*) Read, look_*',
      'disable-model-invocation: true',
    ),
  )
  expect(header).toMatchObject({
    license: 'Apache-2.0',
    compatibility: 'Requires Python',
    metadata: { author: 'example-org', version: '1.5' },
    allowedTools: ['Bash(git add:*)', 'Read', 'look_*'],
    isHidden: true,
  })
})

it.each([
  ['a list', 'allowed-tools: [a, b]', ['a', 'b']],
  ['an empty list', 'allowed-tools: []', []],
  ['an empty text', "allowed-tools: ''", []],
])('the allowed tools may be %s', (_what, line, allowed) => {
  expect(parse(withLines(...valid, line)).header.allowedTools).toEqual(allowed)
})

it.each([
  ['a byte order mark', `\uFEFF${withLines(...valid)}`],
  ['line ends of Windows', withLines(...valid).replaceAll('\n', '\r\n')],
  ['a mark and line ends of Windows', `\uFEFF${withLines(...valid)}`.replaceAll('\n', '\r\n')],
  ['spaces after the marks', withLines(...valid).replaceAll('---', '---  ')],
])('a SKILL.md with %s is the same', (_what, text) => {
  expect(parse(text)).toEqual(parse(withLines(...valid)))
})

it('a description in one unquoted line may contain a colon, and the restriction stays', () => {
  const text = withLines('name: pdf', 'description: Use it for: reading "PDFs"', 'allowed-tools: look')
  expect(parse(text).header).toMatchObject({ description: 'Use it for: reading "PDFs"', allowedTools: ['look'] })
})

it('a description becomes one line without characters that can not be seen', () => {
  const { header } = parse(withLines('name: pdf', 'description: "a\\nb\\u0007\\u202e\\u200bc"'))
  expect(header.description).toBe('a b c')
})

it('keys of other programs have no effect, and are reported', () => {
  expect(parse(withLines(...valid, 'version: 1', 'user-invocable: true')).warnings).toEqual([
    'these keys have no effect: version, user-invocable',
  ])
})

it('a description over the limit of the format is cut, and reported', () => {
  const { header, warnings } = parse(withLines('name: pdf', `description: ${'word '.repeat(400)}`))
  expect(Array.from(header.description)).toHaveLength(1_025)
  expect(warnings).toEqual(['only the first 1024 characters of the description are used'])
})

it.each<[string, string | Uint8Array, string]>([
  ['no frontmatter', 'Do it.', 'has no frontmatter'],
  ['nothing', '', 'has no frontmatter'],
  ['a frontmatter without an end', '---\nname: pdf\n', 'has no frontmatter'],
  ['text before the frontmatter', `\n${withLines(...valid)}`, 'has no frontmatter'],
  ['an empty frontmatter', '---\n---\n', 'not a mapping'],
  ['a list', '---\n- name\n---\n', 'not a mapping'],
  ['no name', withLines('description: x'), 'name'],
  ['no description', withLines('name: pdf'), 'description'],
  ['an empty description', withLines('name: pdf', 'description: " "'), 'must not be empty'],
  ['an upper-case name', withLines('name: PDF', 'description: x'), 'lower-case'],
  ['a name that begins with a hyphen', withLines('name: -pdf', 'description: x'), 'lower-case'],
  ['a name with two hyphens', withLines('name: pdf--x', 'description: x'), 'lower-case'],
  ['a name that is a path', withLines('name: ../pdf', 'description: x'), 'lower-case'],
  ['an encoded name', withLines('name: "%2e%2e"', 'description: x'), 'lower-case'],
  ['a long name', withLines(`name: ${'x'.repeat(65)}`, 'description: x'), '64'],
  ['a name of another type', withLines('name: 1', 'description: x'), 'name'],
  ['a key twice', withLines(...valid, 'name: other'), 'unique'],
  ['two keys of allowed tools', withLines(...valid, 'allowed-tools: a', 'allowed-tools: b'), 'unique'],
  ['a colon in another value', withLines(...valid, 'allowed-tools: a: b'), 'not YAML'],
  ['a colon in a continued description', withLines('name: pdf', 'description: a: b', '  c', 'license: x'), 'not YAML'],
  ['no allowed tools', withLines(...valid, 'allowed-tools:'), 'allowed-tools'],
  ['a misspelt restriction', withLines(...valid, 'allowed_tools: a'), 'Did you mean "allowed-tools"?'],
  ['a restriction in another case', withLines(...valid, 'allowedTools: a'), 'Did you mean "allowed-tools"?'],
  ['a misspelt flag', withLines(...valid, 'disable-model-invokation: true'), 'Did you mean'],
  ['a flag that is a text', withLines(...valid, 'disable-model-invocation: "true"'), 'disable-model-invocation'],
  ['unbalanced tools', withLines(...valid, 'allowed-tools: Bash(git'), 'allowed-tools'],
  ['an alias', withLines(...valid, 'metadata: &a { x: y }', 'license: *a'), 'not YAML'],
  ['a tag', withLines('name: !!js/function pdf', 'description: x'), 'not YAML'],
  ['nested metadata', withLines(...valid, 'metadata: { a: { b: c } }'), 'metadata'],
  ['a large frontmatter', withLines(...valid, `x: ${'y'.repeat(skillLimits.frontmatterBytes)}`), '16384'],
  ['too many bytes', withLines(...valid) + 'x'.repeat(skillLimits.instructionBytes), '131072 bytes'],
  ['UTF-16', Buffer.from(withLines(...valid), 'utf16le'), 'UTF-16'],
  ['bytes that are not UTF-8', Buffer.concat([Buffer.from(withLines(...valid)), Buffer.from([0xff])]), 'UTF-8'],
])('a SKILL.md with %s is refused, and the message names the file', (_what, text, problem) => {
  const error = (() => {
    try {
      return parse(text)
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toMatchObject({ code: 'SKILL_INVALID', message: expect.stringContaining(problem) })
  expect(String(error)).toContain('pdf/SKILL.md')
})

it('an anchor of nested aliases does not use up the memory', () => {
  const bomb = [
    'a: &a [x, x]',
    ...'bcdefghij'.split('').map((key, index) => `${key}: &${key} [${`*${'abcdefghi'[index]}, `.repeat(9)}]`),
  ]
  expect(() => parse(withLines(...valid, ...bomb))).toThrow('not YAML')
})
