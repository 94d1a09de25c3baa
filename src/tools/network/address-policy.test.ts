import { expect, it } from 'vitest'
import { problemOfAddress } from './address-policy.js'

const refused = (address: string, host: string, isConfigured: boolean): boolean =>
  problemOfAddress(address, { host, isConfigured }) !== undefined

it.each(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'])('the host of a document may be at %s', (address) => {
  expect(refused(address, 'api.example.com', false)).toBe(false)
})

it.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '224.0.0.1',
  '255.255.255.255',
  '192.0.0.192',
  '198.18.0.1',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '::0.1.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '2002:7f00:1::',
  'not an address',
])('the host of a document must not be at %s', (address) => {
  expect(refused(address, 'api.example.com', false)).toBe(true)
})

it.each([
  ['10.0.0.1', 'api.internal', false],
  ['fd12::1', 'api.internal', false],
  ['100.64.0.1', 'api.internal', false],
  ['127.0.0.1', 'api.internal', true],
  ['169.254.169.254', 'api.internal', true],
  ['100.100.100.200', 'api.internal', true],
  ['127.0.0.1', 'localhost', false],
  ['::1', 'api.localhost', false],
  ['10.0.0.1', 'notlocalhost', false],
  ['127.0.0.1', 'notlocalhost', true],
  ['127.0.0.1', '127.0.0.1', false],
  ['::ffff:127.0.0.1', '127.0.0.1', false],
  ['127.0.0.1', '127.0.0.2', true],
  ['169.254.169.254', '169.254.169.254', false],
  ['fd00:ec2::254', 'fd00:ec2::254', false],
])('the address %s of the configured host %s is refused: %s', (address, host, isRefused) => {
  expect(refused(address, host, true)).toBe(isRefused)
})
