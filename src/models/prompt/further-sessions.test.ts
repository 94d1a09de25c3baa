import { expect, it } from 'vitest'
import { languageOf } from '../../languages/index.js'
import { describeSessions, type FurtherSession, languagesOfAll, sessionProperty } from './further-sessions.js'

const none = { names: [], more: 0 }
const contents = {
  programs: ['Python 3.11.2'],
  languages: ['python'],
  packages: { apt: none, pip: { names: ['numpy 1.24.2'], more: 3 }, npm: none },
}
const python = languageOf('python')
const sessions: readonly FurtherSession[] = [
  { name: 'etl', language: python, contents },
  { name: 'web', language: languageOf('javascript'), networkDescription: 'api.example.com' },
]
const example = { codeName: 'rate', input: { day: 'monday' } }

it('further sandboxes are described by what they have, and in their language', () => {
  expect(describeSessions(sessions, { language: python, environment: {}, example })).toBe(`\
Each \`session\` is another sandbox beside your own, with the same tools and limits, and with variables and files of its \
own. It stays until your task is done.

- \`etl\`: Python, as in your own. Installed: Python 3.11.2. Packages of Python: numpy 1.24.2, and 3 more.
- \`web\`: JavaScript or TypeScript in Node.js, with \`await\` at the top level. Print with console.log. Call tools as \
\`await rate({ day: "monday" })\`. Code reaches these hosts by HTTP and HTTPS, through the proxy in its environment: \
api.example.com.`)
})

it('what is as in the own sandbox is not repeated, and a network that only the own sandbox has is not promised', () => {
  const environment = { contents, networkDescription: 'api.example.com' }
  expect(describeSessions(sessions.slice(0, 1), { language: python, environment })).toMatch(
    /- `etl`: Python, as in your own\. It has no network\.$/,
  )
})

it('a tool names a sandbox and a language of any of them', () => {
  expect(sessionProperty([])).toEqual({})
  expect(sessionProperty(sessions)).toMatchObject({ session: { type: 'string', enum: ['etl', 'web'] } })
  expect(languagesOfAll(languageOf('python,environment'), sessions)).toEqual(['python', 'javascript'])
})
