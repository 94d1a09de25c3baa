import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ExpectedDifference, readExpected } from '../comparison/outcomes.js'
import { temporaryFolder } from './folders.js'

/** Runs a comparison of `test/comparison/` with a list of expected differences of its own. */
export async function runComparison(
  suite: 'bash' | 'cpython' | 'human-eval-x' | 'node' | 'test262',
  expected: readonly string[],
  words: readonly string[],
): Promise<{ readonly status: number | null; readonly output: string }> {
  const file = join(await temporaryFolder(), 'expected.txt')
  await writeFile(file, expected.join('\n'))
  const child = spawn(
    process.execPath,
    ['node_modules/jiti/lib/jiti-cli.mjs', `test/comparison/${suite}/compare.ts`, ...words],
    { env: { ...process.env, PTC_COMPARE_EXPECTED: file }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, output }
}

/** The differences that a comparison expects. */
export function expectedDifferences(file: string): readonly ExpectedDifference[] {
  return readExpected(readFileSync(new URL(`../comparison/${file}`, import.meta.url), 'utf8'))
}
