import { expect, test } from 'vitest'
import { messageOf } from '../../common/errors.js'
import { parseConfig } from '../../config/parse-config.js'
import { listProblems } from './check-config.js'

function problemsOf(config: object): string {
  try {
    parseConfig(config, 'ptc.config.ts')
    return ''
  } catch (thrown) {
    return listProblems(messageOf(thrown))
  }
}

test.each([
  [{ tools: [], limit: {} }, 'Unrecognized key: "limit". Did you mean "limits"?'],
  [{ tools: [], limits: { turn: 1 } }, 'Unrecognized key: "turn". Did you mean "turns"? (at limits)'],
  [{ tools: [], sandbox: { imag: 'x' } }, 'Unrecognized key: "imag". Did you mean "image"? (at sandbox)'],
  [{ tools: [], values: { store: { kind: 'local', folder: 'x' } } }, 'Unrecognized key: "folder" (at values.store)'],
  [{ tools: [], limits: { turns: 0 } }, 'Too small: expected number to be >=1 (at limits.turns)'],
])('lists the problems of configuration %j in one line each, with the similar key', (config, problem) => {
  expect(problemsOf(config)).toBe(`ptc.config.ts is not a valid configuration:\n${problem}`)
})

test('leaves out lines without text from the problems of a configuration', () => {
  expect(listProblems('can not be loaded:\n  ParseError: Unexpected token  \n\n')).toBe(
    'can not be loaded:\nParseError: Unexpected token',
  )
})
