import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TestEnvironment } from './test-environment.js'

/** Number and bytes of the files in the value store, including large payloads of Temporal. */
export function storedFiles({ valuesDirectory }: Pick<TestEnvironment, 'valuesDirectory'>): {
  files: number
  bytes: number
} {
  const files = readdirSync(valuesDirectory, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}
