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
