import { expect, it } from 'vitest'
import { resolverOf } from '../../test/support/web/page-fetcher.js'
import { resolveHost } from './resolve-host.js'

const { signal } = new AbortController()

/** Spellings of 127.0.0.1, ::1 and metadata services, as hosts of URLs. */
it.each([
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://017700000001/',
  'http://0177.0.0.01/',
  'http://127.0.0.1./',
  'http://①②⑦.0.0.1/',
  'http://127。0。0。1/',
  'http://0/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://[::ffff:a9fe:a9fe]/',
])('the host of %s is judged by its bytes, and no resolver is asked', async (url) => {
  const { resolve, asked } = resolverOf({})
  const host = new URL(url).hostname.replace(/^\[|\]$|\.$/g, '')
  const judged = resolveHost(host, { resolve, privateAddresses: new Set(), signal })
  await expect(judged).rejects.toMatchObject({
    name: 'UnusableHostError',
    message: expect.stringContaining('is not public'),
  })
  expect(asked).toEqual([])
})

it('a name is resolved once, and refused when one of its addresses is not public', async () => {
  const { resolve, asked } = resolverOf({ mixed: ['1.1.1.1', '127.0.0.1'], good: ['1.1.1.1', '2606:4700::1111'] })
  const options = { resolve, privateAddresses: new Set<string>(), signal }
  await expect(resolveHost('mixed', options)).rejects.toThrow('its address is not public (loopback)')
  expect(await resolveHost('good', options)).toEqual([
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ])
  expect(asked).toEqual(['mixed', 'good'])
})

it('the message about a name does not have its private address', async () => {
  const { resolve } = resolverOf({ intranet: ['10.20.30.40'] })
  const judged = resolveHost('intranet', { resolve, privateAddresses: new Set(), signal })
  await expect(judged).rejects.not.toMatchObject({ message: expect.stringContaining('10.20') })
})

it('a name without an address is refused, and a failing resolver is a passing problem', async () => {
  const options = { privateAddresses: new Set<string>(), signal }
  const { resolve } = resolverOf({ empty: [] })
  await expect(resolveHost('empty', { ...options, resolve })).rejects.toMatchObject({ name: 'UnusableHostError' })
  await expect(resolveHost('nobody', { ...options, resolve })).rejects.toMatchObject({ name: 'UnusableHostError' })
  const failing = () => Promise.reject(Object.assign(new Error('try again'), { code: 'EAI_AGAIN' }))
  await expect(resolveHost('later', { ...options, resolve: failing })).rejects.toMatchObject({ name: 'Error' })
})

it('the end of a call does not wait for a resolver that does not answer', async () => {
  const controller = new AbortController()
  const resolving = resolveHost('slow', {
    resolve: () => new Promise(() => undefined),
    privateAddresses: new Set(),
    signal: controller.signal,
  })
  controller.abort(new Error('cancelled'))
  await expect(resolving).rejects.toThrow('cancelled')
})
