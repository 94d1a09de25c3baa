import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

it('the API report describes the present types', async () => {
  // Fails when `npm run api` would change the report.
  await run(process.execPath, ['scripts/api.mjs', '--check'], { cwd: checkout })
})

it('the page about the API and the API report name each entry point of the package', async () => {
  const read = (path: string) => readFile(join(checkout, path), 'utf8')
  const { exports } = JSON.parse(await read('package.json')) as { readonly exports: Readonly<Record<string, unknown>> }
  const entryPoints = Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => `durable-ptc${path.slice(1)}`)
  const namesIn = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, name]) => name))
  expect(namesIn(await read('docs/reference/api.md'), /^\| `(.+?)` \|/gm)).toEqual(new Set(entryPoints))
  const report = await read('api/durable-ptc.api.md')
  expect(namesIn(report, /^declare namespace (\S+) \{$/gm)).toEqual(new Set(entryPoints))
})
