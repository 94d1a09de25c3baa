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

test('finds what PATH has, and passes over what cannot be run', () => {
  writeFileSync(path.join(folder, 'ptc-tool'), '', { mode: 0o755 })
  writeFileSync(path.join(folder, 'ptc-text'), '', { mode: 0o644 })
  vi.stubEnv('PATH', folder)
  expect(findProgram('ptc-tool')).toBe(path.join(folder, 'ptc-tool'))
  expect(findProgram('ptc-text')).toBeUndefined()
})

test('relative folders in PATH are ignored, the system folders are always looked into', () => {
  vi.stubEnv('PATH', '.:bin')
  expect(findProgram('sh')).toMatch(/^\/.*\/sh$/)
  expect(findProgram('package.json')).toBeUndefined()
})
