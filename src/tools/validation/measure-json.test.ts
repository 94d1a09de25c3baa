import { describe, expect, it } from 'vitest'
import { measureJson } from './measure-json.js'

describe('measureJson', () => {
  it.each<[unknown]>([
    [null],
    [true],
    [false],
    [0],
    [-0],
    [1e21],
    [-1.5e-7],
    [''],
    ['é😀"\\\n\u0001'],
    ['\uD800'],
    [[]],
    [{}],
    [[[], {}]],
    [{ a: 1, é: [1, 2, 3], c: { d: null } }],
    [{ a: undefined, b: 1 }],
    [{ b: 1, a: undefined }],
    [{ a: undefined }],
  ])('counts the bytes of %j as JSON.stringify makes them', (value) => {
    expect(measureJson(value, 1e9)).toMatchObject({ type: 'json', bytes: Buffer.byteLength(JSON.stringify(value)) })
  })

  it('measures 5 MB of JSON exactly', () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => ({ id: index, text: 'x'.repeat(80) }))
    const bytes = Buffer.byteLength(JSON.stringify(rows))
    expect(bytes).toBeGreaterThan(5_000_000)
    expect(measureJson(rows, 1e9)).toEqual({ type: 'json', bytes, hasUndefined: false })
  })

  it('measuring JSON stops at the byte limit', () => {
    expect(measureJson('x'.repeat(1_000_000), 10)).toEqual({ type: 'too_large', over: 'bytes' })
    expect(
      measureJson(
        Array.from({ length: 20 }, () => 1),
        10,
      ),
    ).toEqual({ type: 'too_large', over: 'bytes' })
  })

  it('measuring JSON counts values, including the root and nested ones', () => {
    expect(measureJson([[1], { a: 2 }], 1e9, 5)).toMatchObject({ type: 'json' })
    expect(measureJson([[1], { a: 2 }], 1e9, 4)).toEqual({ type: 'too_large', over: 'values' })
  })

  it('measuring JSON accepts plain objects of another realm', () => {
    expect(measureJson(Object.create(null), 10)).toMatchObject({ type: 'json' })
    expect(measureJson(Object.create(Object.create(null)), 10)).toMatchObject({ type: 'json' })
  })
})
