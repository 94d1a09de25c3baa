import { expect, it } from 'vitest'
import { PtcError } from '../../../common/errors.js'
import { webFetch } from './web-fetch.js'

it('the tool is a read for model and code, and says that the text is untrusted', () => {
  const tool = webFetch()
  expect(tool).toMatchObject({ name: 'web_fetch', effect: 'read', timeoutMs: 60_000 })
  expect(tool.allowedCallers).toEqual(['direct', 'code_execution'])
  expect(tool.description).toContain('untrusted')
  expect(tool).not.toHaveProperty('approval')
})

it('a fetch may need approval, for some URLs only', () => {
  expect(webFetch({ approval: 'always' })).toMatchObject({ approval: true })
  const tool = webFetch({ approval: ({ url }) => !url.startsWith('https://example.com/') })
  expect(tool).toMatchObject({ approval: true, approvalRule: expect.any(Function) })
})

it.each([
  ['an unknown option', { allowed: ['example.com'] }, 'allowed'],
  ['a URL in a list of domains', { allow: ['https://example.com'] }, 'allow[0]: must be a domain'],
  ['a port that does not exist', { ports: [70_000] }, 'ports[0]'],
  ['no port at all', { ports: [] }, 'ports'],
  [
    'a network of private addresses',
    { privateAddresses: ['10.0.0.0/8'] },
    'privateAddresses[0]: must be an IP address',
  ],
  ['a name of a private address', { privateAddresses: ['localhost'] }, 'privateAddresses[0]: must be an IP address'],
  ['a wrong time', { timeout: 'soon' }, 'timeout: must be a duration'],
  ['a wrong approval', { approval: 'sometimes' }, 'approval'],
  ['a wrong name', { name: 'web fetch' }, 'web fetch'],
])('the configuration is refused for %s', (_what, options, message) => {
  const made = (): unknown => webFetch(options as never)
  expect(made).toThrow(PtcError)
  expect(made).toThrow(message)
})
