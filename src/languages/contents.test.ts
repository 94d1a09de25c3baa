import { expect, it } from 'vitest'
import type { SandboxContents } from '../common/run/sandbox-image.js'
import { languageOf } from './index.js'

const none = { names: [], more: 0 }
const minimal: SandboxContents = {
  programs: ['Python 3.11.2', 'Node.js 24.21.0', 'Bash 5.2.15', 'Perl 5.36.0'],
  languages: ['python', 'javascript', 'typescript', 'bash', 'perl'],
  packages: { apt: { names: ['jq 1.6'], more: 0 }, pip: none, npm: none },
}
const data: SandboxContents = {
  ...minimal,
  packages: { ...minimal.packages, pip: { names: ['numpy 1.24.2', 'pandas 1.5.3'], more: 3 } },
}
const limits = { cellSeconds: 1, outputCharacters: 1, callsPerCell: 1 }
const describe = (language: string, contents?: SandboxContents): string =>
  languageOf(language).describeEnvironment(limits, { contents })

it.each(['python', 'javascript', 'typescript', 'bash', 'bash,perl'])(
  'code in %s is told which programs and versions there are',
  (language) => {
    expect(describe(language, minimal)).toContain(
      '\n- Installed: Python 3.11.2, Node.js 24.21.0, Bash 5.2.15, Perl 5.36.0, jq 1.6.',
    )
    // About four characters are a token.
    expect(describe(language, minimal).length - describe(language).length).toBeLessThan(4 * 40)
  },
)

it('packages are listed, and those that are not listed are counted', () => {
  expect(describe('python', data)).toContain('jq 1.6.\n- Packages of Python: numpy 1.24.2, pandas 1.5.3, and 3 more.')
  expect(describe('python', data)).toContain('There is no network: reach')
  expect(describe('python', minimal)).toContain('There is the standard library only, and no network: reach')
  expect(describe('javascript', data)).toContain("no packages besides Node's own modules")
})
