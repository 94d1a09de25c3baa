import { expect, it } from 'vitest'
import type { NetworkTarget } from '../../common/run/network.js'
import { formatDestination, isAllowableAddress, NetworkPolicy, parseAuthority, Refusal } from './policy.js'

function decide(allow: readonly NetworkTarget[], authority: string, method = 'CONNECT'): string {
  const destination = parseAuthority(authority)
  if (destination === undefined) return 'malformed'
  try {
    new NetworkPolicy({ allow, requestsPerMinute: 1, bytesPerRequest: 1 }).check(method, destination)
    return 'allowed'
  } catch (thrown) {
    return thrown instanceof Refusal ? thrown.rule : String(thrown)
  }
}

const pypi: NetworkTarget = { host: 'pypi.org', subdomains: true }
const bare: NetworkTarget = { host: 'example.com' }

it.each([
  [bare, 'example.com:443', 'allowed'],
  [bare, 'example.com:80', 'allowed'],
  [bare, 'EXAMPLE.com.:443', 'allowed'],
  [bare, 'example.com:8443', 'host'],
  [bare, 'www.example.com:443', 'host'],
  [bare, 'evilexample.com:443', 'host'],
  [bare, 'example.com.evil.com:443', 'host'],
  [bare, 'example.comevil:443', 'host'],
  [bare, 'evil.com:443', 'host'],
  [bare, 'example.com@evil.com:443', 'malformed'],
  [bare, 'evil.com#example.com:443', 'malformed'],
  [bare, 'evil.com/example.com:443', 'malformed'],
  [bare, 'evil.com\\example.com:443', 'malformed'],
  [bare, 'example.com:443:80', 'malformed'],
  [bare, 'example.com', 'malformed'],
  [bare, 'example.com:0', 'malformed'],
  [bare, 'example.com:65536', 'malformed'],
  [bare, 'example.com:+443', 'malformed'],
  [bare, 'example.com:0x1bb', 'malformed'],
  [bare, 'example.com :443', 'malformed'],
  [bare, 'example%2ecom:443', 'allowed'],
  [bare, 'ｅxample.com:443', 'allowed'],
  [bare, '', 'malformed'],
  [bare, ':443', 'malformed'],
  [bare, '.:443', 'malformed'],
  [pypi, 'files.pypi.org:443', 'allowed'],
  [pypi, 'a.b.pypi.org:443', 'allowed'],
  [pypi, 'pypi.org:443', 'host'],
  [pypi, 'evilpypi.org:443', 'host'],
  [pypi, '.pypi.org:443', 'malformed'],
  [{ host: 'example.com', port: 8443 }, 'example.com:8443', 'allowed'],
  [{ host: 'example.com', port: 8443 }, 'example.com:443', 'host'],
  [{ host: 'xn--bcher-kva.example' }, 'bücher.example:443', 'allowed'],
  // An address matches an entry of its own only, in every spelling.
  [{ host: '10.1.2.3' }, '10.1.2.3:443', 'allowed'],
  [{ host: '10.1.2.3' }, '167838211:443', 'allowed'],
  [{ host: '10.1.2.3' }, '0xa010203:443', 'allowed'],
  [{ host: '10.1.2.3' }, '012.1.2.3:443', 'allowed'],
  [{ host: '10.1.2.3' }, '10.1.515:443', 'allowed'],
  [{ host: '10.1.2.3' }, '[::ffff:10.1.2.3]:443', 'allowed'],
  [{ host: '10.1.2.3' }, '[::ffff:a01:203]:443', 'allowed'],
  [{ host: '10.1.2.3' }, '[64:ff9b::10.1.2.3]:443', 'allowed'],
  [{ host: '10.1.2.3' }, '10.1.2.4:443', 'host'],
  [{ host: '1.2.3', subdomains: true }, '0.1.2.3:443', 'host'],
  [{ host: 'fd00::1' }, '[fd00:0:0::1]:443', 'allowed'],
  [{ host: '127.0.0.1', port: 8080 }, '127.1:8080', 'allowed'],
  [{ host: '127.0.0.1', port: 8080 }, 'localhost:8080', 'host'],
  [{ host: '127.0.0.1', port: 8080 }, '127.0.0.1:22', 'host'],
  // Never, even with an entry.
  [{ host: '169.254.169.254' }, '169.254.169.254:80', 'address'],
  [{ host: '169.254.169.254' }, '0xa9fea9fe:80', 'address'],
  [{ host: 'fd00:ec2::254' }, '[fd00:ec2::254]:80', 'address'],
  [{ host: '100.100.100.200' }, '100.100.100.200:80', 'address'],
  [{ host: '0.0.0.0' }, '0:80', 'address'],
] as const)('with %j allowed, %s is: %s', (target, authority, decision) => {
  expect(decide([target], authority)).toBe(decision)
})

it.each([
  [{ host: 'a.test' }, 'DELETE', 'allowed'],
  [{ host: 'a.test' }, 'TRACE', 'method'],
  [{ host: 'a.test', methods: ['GET'] }, 'GET', 'allowed'],
  [{ host: 'a.test', methods: ['GET'] }, 'POST', 'method'],
  [{ host: 'a.test', methods: ['GET'] }, 'CONNECT', 'method'],
  [{ host: 'a.test', headers: { a: 'b' } }, 'CONNECT', 'method'],
  [{ host: 'a.test', https: true }, 'CONNECT', 'method'],
] as const)('with %j allowed, the method %s is: %s', (target, method, decision) => {
  expect(decide([target], 'a.test:443', method)).toBe(decision)
  expect(decide([target, { host: 'a.test' }], 'a.test:443', method)).toBe(method === 'TRACE' ? 'method' : 'allowed')
})

it('private addresses count for the port of their entry, and metadata services never', () => {
  const allow: NetworkTarget[] = [
    { host: '10.0.0.1', port: 8080 },
    { host: '127.0.0.1' },
    { host: '169.254.169.254' },
    bare,
  ]
  const policy = new NetworkPolicy({ allow, requestsPerMinute: 1, bytesPerRequest: 1 })
  expect([...policy.privateAddresses(8080)]).toEqual(['10.0.0.1'])
  expect([...policy.privateAddresses(443)]).toEqual(['127.0.0.1'])
})

it.each([
  ['1.1.1.1', true],
  ['10.0.0.1', true],
  ['100.64.0.1', true],
  ['127.0.0.1', true],
  ['::1', true],
  ['fd00::1', true],
  ['169.254.169.254', false],
  ['168.63.129.16', false],
  ['fd20:ce::254', false],
  ['fe80::1', false],
  ['0.0.0.0', false],
  ['::', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['2002:7f00:1::', false],
  ['2001::1', false],
  ['64:ff9b:1::1', false],
])('an entry for the address %s is possible: %s', (address, isPossible) => {
  expect(isAllowableAddress(address)).toBe(isPossible)
})

it('a destination is written with brackets around an IPv6 address', () => {
  expect(formatDestination({ host: 'fd00::1', port: 443 })).toBe('[fd00::1]:443')
})
