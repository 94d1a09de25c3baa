import { expect, it } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { checkNetworkCredentials, describeNetwork, networkOption, networkRules } from './network.js'

const targetOf = (entry: unknown) => networkOption.parse({ allow: [entry] }).allow[0]

it.each([
  ['api.example.com', { host: 'api.example.com' }],
  ['API.Example.com.', { host: 'api.example.com' }],
  ['api.example.com:443', { host: 'api.example.com', port: 443 }],
  ['*.pypi.org', { host: 'pypi.org', subdomains: true }],
  ['*.pypi.org:8443', { host: 'pypi.org', subdomains: true, port: 8443 }],
  ['bücher.example', { host: 'xn--bcher-kva.example' }],
  ['10.1.2.3:8080', { host: '10.1.2.3', port: 8080 }],
  ['0x7f.1:80', { host: '127.0.0.1', port: 80 }],
  ['fd00::1', { host: 'fd00::1' }],
  ['[fd00::1]:8080', { host: 'fd00::1', port: 8080 }],
  ['[::ffff:10.0.0.1]', { host: '10.0.0.1' }],
  [
    { host: 'api.example.com:8443', methods: ['GET'], headers: { 'X-Key': 'Key ${api_key}' }, https: true },
    { host: 'api.example.com', port: 8443, methods: ['GET'], headers: { 'X-Key': 'Key ${api_key}' }, https: true },
  ],
  [{ host: 'api.example.com', https: false }, { host: 'api.example.com' }],
])('reads the entry %j', (entry, target) => expect(targetOf(entry)).toEqual(target))

it.each([
  '',
  '*',
  '*.',
  '*.*.example.com',
  'a*.example.com',
  'https://example.com',
  'example.com/path',
  'user@example.com',
  'example.com:0',
  'example.com:99999',
  'example.com:port',
  '*.10.1.2.3',
  '169.254.169.254',
  '169.254.0.0',
  '[fd00:ec2::254]:80',
  '0.0.0.0',
  '224.0.0.1',
  '10.0.0.0/8',
  { host: 'a.test', methods: ['get'] },
  { host: 'a.test', methods: [] },
  { host: 'a.test', methods: ['CONNECT'] },
  { host: 'a.test', headers: { Host: 'b.test' } },
  { host: 'a.test', headers: { 'Transfer-Encoding': 'chunked' } },
  { host: 'a.test', headers: { 'Proxy-Authorization': 'x' } },
  { host: 'a.test', headers: { 'a b': 'x' } },
  { host: 'a.test', headers: { a: 'x\r\nb: y' } },
  { host: 'a.test', tls: true },
])('refuses the entry %j', (entry) =>
  expect(() => networkRules({ allow: [entry as string] }, 'a test')).toThrow(PtcError),
)

it('a credential that has no source is noticed', () => {
  const rules = networkOption.parse({ allow: [{ host: 'a.test', headers: { a: '${api_key} ${other}' } }] })
  expect(() => checkNetworkCredentials(rules, ['api_key', 'others'], 'agent a')).toThrow(
    'the network of agent a needs credential other, and the configuration has no source for it. Did you mean "others"?',
  )
  expect(() => checkNetworkCredentials(rules, ['api_key', 'other'], 'agent a')).not.toThrow()
})

it('the description for the model has the hosts, without headers, and a bounded number of them', () => {
  const secret = { host: 'api.test', https: true, headers: { a: '${api_key}' }, methods: ['GET'] }
  const rules = networkOption.parse({ allow: ['*.pypi.org', 'fd00::1', secret] })
  expect(describeNetwork(rules)).toBe('*.pypi.org, [fd00::1], api.test (by http:// URLs only, GET)')
  const many = networkOption.parse({ allow: Array.from({ length: 50 }, (_, index) => `host${index}.test`) })
  expect(describeNetwork(many)).toMatch(/host29\.test, 20 others$/)
})
