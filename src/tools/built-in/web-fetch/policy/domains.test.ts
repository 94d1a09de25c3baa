import { expect, it } from 'vitest'
import { comparableHost } from '../../../../network/host-names.js'
import { domainPattern, matchesDomain } from './domains.js'

it.each([
  ['noaa.gov', 'https://noaa.gov/', true],
  ['noaa.gov', 'https://www.noaa.gov/', true],
  ['noaa.gov', 'https://WWW.NOAA.GOV./', true],
  ['NOAA.gov.', 'https://noaa.gov/', true],
  ['noaa.gov', 'https://evilnoaa.gov/', false],
  ['noaa.gov', 'https://noaa.gov.evil.com/', false],
  ['noaa.gov', 'https://evil.com/noaa.gov', false],
  ['*.noaa.gov', 'https://noaa.gov/', false],
  ['*.noaa.gov', 'https://www.noaa.gov/', true],
  ['*.noaa.gov', 'https://evilnoaa.gov/', false],
  ['bücher.example', 'https://xn--bcher-kva.example/', true],
  ['xn--bcher-kva.example', 'https://bücher.example/', true],
  ['1.1.1.1', 'http://0x01010101/', true],
  ['0.0.1', 'http://127.0.0.1/', false],
  ['1.1', 'http://9.9.1.1/', false],
  ['2606:4700::1111', 'http://[2606:4700:0::1111]/', true],
])('the domain %s in a list and the URL %s: %s', (pattern, url, isMatch) => {
  expect(matchesDomain(comparableHost(new URL(url)), domainPattern.parse(pattern))).toBe(isMatch)
})

it.each([
  '',
  '*',
  'https://example.com',
  'example.com/path',
  'example.com:8080',
  'user@example.com',
  'a*.example.com',
  '*.1.1.1.1',
  '.',
])('the text %j is no domain for a list', (text) => expect(domainPattern.safeParse(text).success).toBe(false))
