import { describe, expect, it } from 'vitest'
import { callDigest, callKey } from './call-key.js'
import { canonicalJson } from './canonical-json.js'

const run = { namespace: 'n', workflowId: 'w', firstExecutionRunId: 'r' }
const position = { turn: 1, cell: 2, index: 3 }
const digest = callDigest('get', { a: 1 })

describe('callKey', () => {
  it('never changes (these are from sha256sum): a key that was given out must be found again', () => {
    expect(digest).toBe('0f1747910ab12faccc12d45fc4c97389')
    expect(callKey(run, position, digest)).toBe('3d11038334782067f62d8c79fff72a6f')
  })

  it('differs when anything of a call does', () => {
    const keys = [
      callKey(run, position, digest),
      ...(['namespace', 'workflowId', 'firstExecutionRunId'] as const).map((part) =>
        callKey({ ...run, [part]: 'x' }, position, digest),
      ),
      ...(['turn', 'cell', 'index'] as const).map((part) => callKey(run, { ...position, [part]: 9 }, digest)),
      callKey(run, position, callDigest('get', { a: 2 })),
      callKey(run, position, callDigest('put', { a: 1 })),
      callKey({ ...run, namespace: 'nw', workflowId: '' }, position, digest),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('canonicalJson', () => {
  it('is the same whatever the order of keys, at every depth, and keeps the order of lists', () => {
    expect(canonicalJson({ b: [{ y: 1, x: 2 }, 1], a: null })).toBe('{"a":null,"b":[{"x":2,"y":1},1]}')
    expect(canonicalJson([2, 1])).toBe('[2,1]')
  })

  it('keeps keys that JavaScript treats as special', () => {
    const value = JSON.parse('{"__proto__":1,"constructor":2,"10":3,"9":4}')
    expect(JSON.parse(canonicalJson(value))).toEqual(value)
    expect(canonicalJson(value)).toContain('__proto__')
  })
})
