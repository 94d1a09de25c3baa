import { describe, expect, it } from 'vitest'
import { callDigest, deriveIdempotencyKey, signCall } from './call-identity.js'
import { canonicalJson } from '../json/canonical-json.js'

const run = { namespace: 'n', workflowId: 'w', firstExecutionRunId: 'r' }
const position = { turn: 1, cell: 2, index: 3 }
const digest = callDigest('get', { a: 1 })

it('signCall returns a different signature for each call and each secret (expected value is from openssl)', () => {
  const key = '3d11038334782067f62d8c79fff72a6f'
  expect(signCall('secret', key)).toBe('08a13e0c82900e66d9fb4359c4f3b1b7')
  expect(signCall('other', key)).not.toBe(signCall('secret', key))
  expect(signCall('secret', 'other')).not.toBe(signCall('secret', key))
})

describe('deriveIdempotencyKey', () => {
  it('an idempotency key never changes between versions (expected values are from sha256sum)', () => {
    expect(digest).toBe('0f1747910ab12faccc12d45fc4c97389')
    expect(deriveIdempotencyKey(run, position, digest)).toBe('3d11038334782067f62d8c79fff72a6f')
  })

  it('idempotency keys differ for every difference of run, position or digest', () => {
    const keys = [
      deriveIdempotencyKey(run, position, digest),
      ...(['namespace', 'workflowId', 'firstExecutionRunId'] as const).map((part) =>
        deriveIdempotencyKey({ ...run, [part]: 'x' }, position, digest),
      ),
      ...(['turn', 'cell', 'index'] as const).map((part) =>
        deriveIdempotencyKey(run, { ...position, [part]: 9 }, digest),
      ),
      deriveIdempotencyKey(run, position, callDigest('get', { a: 2 })),
      deriveIdempotencyKey(run, position, callDigest('put', { a: 1 })),
      deriveIdempotencyKey({ ...run, namespace: 'nw', workflowId: '' }, position, digest),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('canonicalJson', () => {
  it('canonicalJson ignores the order of keys at every depth, and keeps the order of lists', () => {
    expect(canonicalJson({ b: [{ y: 1, x: 2 }, 1], a: null })).toBe('{"a":null,"b":[{"x":2,"y":1},1]}')
    expect(canonicalJson([2, 1])).toBe('[2,1]')
  })

  it('canonicalJson keeps keys that are special in JavaScript', () => {
    const value = JSON.parse('{"__proto__":1,"constructor":2,"10":3,"9":4}')
    expect(JSON.parse(canonicalJson(value))).toEqual(value)
    expect(canonicalJson(value)).toContain('__proto__')
  })
})
