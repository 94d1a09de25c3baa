import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../', import.meta.url))

it('the package has what its README links to, and no source map without its source', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: checkout })
  const [packed] = JSON.parse(stdout) as readonly [{ readonly files: readonly { readonly path: string }[] }]
  const files = packed.files.map(({ path }) => path)
  expect(files).toContain('dist/index.js')
  expect(files.filter((path) => path.endsWith('.map'))).toEqual([])
  const readme = await readFile(join(checkout, 'README.md'), 'utf8')
  const links = [...readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path]) => path)
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((path) => !files.includes(path ?? ''))).toEqual([])
})
