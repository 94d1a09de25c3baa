import { expect, it } from 'vitest'
import { References } from './references.js'
import { SecuritySchemes } from './security.js'

const schemes = new SecuritySchemes(
  new References({
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'Bearer' },
        password: { type: 'http', scheme: 'basic' },
        key: { type: 'apiKey', in: 'query', name: 'api_key' },
        login: { type: 'oauth2', flows: {} },
        digest: { type: 'http', scheme: 'digest' },
        certificate: { type: 'mutualTLS' },
      },
    },
  }),
)

const choose = (security: object[] | undefined, ...configured: string[]) =>
  schemes.choose(security as never, new Set(configured))?.map(({ name }) => name)

it('reads the schemes that a request can satisfy, and says why not the others', () => {
  expect([...schemes.known.keys()]).toEqual(['token', 'password', 'key', 'login'])
  expect([...schemes.unsupported]).toEqual([
    ['digest', 'HTTP scheme "digest"'],
    ['certificate', 'type "mutualTLS"'],
  ])
})

it.each([
  [undefined, ['token'], []],
  [[], ['token'], []],
  [[{ token: [] }], ['token'], ['token']],
  [[{ token: [] }], [], undefined],
  [
    [{ token: [] }, { key: [], password: [] }],
    ['key', 'password'],
    ['key', 'password'],
  ],
  [[{ key: [], password: [] }], ['key'], undefined],
  [[{}, { token: [] }], ['token'], ['token']],
  [[{}, { token: [] }], [], []],
])('the requirement %j with the credentials %j needs %j', (security, configured, expected) => {
  expect(choose(security, ...configured)).toEqual(expected)
})

it('knows the parameters that are credentials', () => {
  expect(schemes.hasParameter('query', 'api_key')).toBe(true)
  expect(schemes.hasParameter('query', 'API_KEY')).toBe(false)
  expect(schemes.hasParameter('header', 'api_key')).toBe(false)
})
