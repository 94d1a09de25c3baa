import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findProgram } from './find-program.js'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'find-program-'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

test('findProgram finds programs in PATH, and skips files that are not executable', () => {
  writeFileSync(path.join(folder, 'ptc-tool'), '', { mode: 0o755 })
  writeFileSync(path.join(folder, 'ptc-text'), '', { mode: 0o644 })
  vi.stubEnv('PATH', folder)
  expect(findProgram('ptc-tool')).toBe(path.join(folder, 'ptc-tool'))
  expect(findProgram('ptc-text')).toBeUndefined()
})

test('findProgram ignores relative folders in PATH, and always searches the system folders', () => {
  vi.stubEnv('PATH', '.:bin')
  expect(findProgram('sh')).toMatch(/^\/.*\/sh$/)
  expect(findProgram('package.json')).toBeUndefined()
})
