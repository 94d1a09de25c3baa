import { expect, test } from 'vitest'
import { DiagnosticsBuffer } from './diagnostics-buffer.js'

test('DiagnosticsBuffer keeps the last 8 KiB', () => {
  const buffer = new DiagnosticsBuffer()
  buffer.push(Buffer.from(`${'x'.repeat(10_000)}the end`))
  expect(buffer.toString()).toHaveLength(8 * 1024)
  expect(buffer.toString()).toMatch(/xthe end$/)
})

test('DiagnosticsBuffer rejects more than 8 MiB', () => {
  const buffer = new DiagnosticsBuffer()
  buffer.push(Buffer.alloc(8 * 1024 * 1024))
  expect(() => buffer.push(Buffer.alloc(1))).toThrow(expect.objectContaining({ code: 'SANDBOX_PROTOCOL' }))
})

test('DiagnosticsBuffer keeps all bytes below the capacity', () => {
  const tail = new DiagnosticsBuffer(8)
  tail.push(Buffer.from('abc'))
  expect(tail.toString()).toBe('abc')
})

test.each([1, 3, 7, 8, 9, 16, 100])('DiagnosticsBuffer keeps the last 8 bytes of pieces of %i bytes', (size) => {
  const all = Buffer.from('0123456789'.repeat(30))
  const tail = new DiagnosticsBuffer(8)
  for (let at = 0; at < all.length; at += size) tail.push(all.subarray(at, at + size))
  expect(tail.toString()).toBe('23456789')
})

test('DiagnosticsBuffer keeps the last bytes of pieces of different sizes', () => {
  const tail = new DiagnosticsBuffer(5)
  for (const piece of ['ab', '', 'cdefgh', 'i']) tail.push(Buffer.from(piece))
  expect(tail.toString()).toBe('efghi')
})

test('DiagnosticsBuffer shows a character that is cut at the front as a replacement character', () => {
  const tail = new DiagnosticsBuffer(3)
  tail.push(Buffer.from('éé'))
  expect(tail.toString()).toBe('\uFFFDé')
})
