import { expect, it } from 'vitest'
import { canonicalAddress, refusedRange } from './addresses.js'

it.each([
  ['0.0.0.0', 'unspecified'],
  ['10.1.2.3', 'private'],
  ['100.64.0.1', 'carrierGradeNat'],
  ['100.100.100.200', 'metadata'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'metadata'],
  ['169.254.169.254', 'linkLocal'],
  ['172.16.0.1', 'private'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['192.88.99.1', 'reserved'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'reserved'],
  ['203.0.113.1', 'reserved'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::7f00:1', 'reserved'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:a9fe:a9fe', 'linkLocal'],
  ['::ffff:0:7f00:1', 'rfc6145'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['64:ff9b::a9fe:a9fe', 'linkLocal'],
  ['64:ff9b:1::7f00:1', 'rfc6052'],
  ['100::1', 'discard'],
  ['2001::1', 'teredo'],
  ['2001:db8::1', 'reserved'],
  ['2002:7f00:1::', '6to4'],
  ['3fff::1', 'reserved'],
  ['4000::1', 'reserved'],
  ['fc00::1', 'uniqueLocal'],
  ['fd00:ec2::254', 'metadata'],
  ['fe80::1', 'linkLocal'],
  ['fe80::1%eth0', 'linkLocal'],
  ['fec0::1', 'deprecatedSiteLocal'],
  ['ff02::1', 'multicast'],
  ['2130706433', 'unknown'],
  ['0x7f.1', 'unknown'],
  ['example.com', 'unknown'],
])('the address %s is refused as %s', (address, range) => {
  expect(refusedRange(address)).toBe(range)
})

it.each([
  '1.1.1.1',
  '100.63.255.255',
  '100.128.0.1',
  '172.32.0.1',
  '2606:4700::1111',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
])('the public address %s is not refused', (address) => expect(refusedRange(address)).toBeUndefined())

it('an address that the configuration names is allowed, in each spelling, and its neighbour is not', () => {
  const named = new Set(['10.0.0.1', canonicalAddress('FD00::1') ?? ''])
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fd00:0::1'])
    expect(refusedRange(address, named)).toBeUndefined()
  expect(refusedRange('10.0.0.2', named)).toBe('private')
  expect(refusedRange('fd00::2', named)).toBe('uniqueLocal')
})
