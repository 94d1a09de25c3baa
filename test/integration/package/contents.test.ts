import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

/** Paths in the package. */
let files: readonly string[]

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: checkout })
  const [packed] = JSON.parse(stdout) as readonly [{ readonly files: readonly { readonly path: string }[] }]
  files = packed.files.map(({ path }) => path)
})

/** Links of a page to files of the package, without web pages and anchors. */
function linksOf(page: string, markdown: string): string[] {
  const links = [...markdown.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(
    ([, inline, defined]) => inline ?? defined ?? '',
  )
  return links.filter((link) => !/^(\w+:|#)/.test(link)).map((link) => join(dirname(page), link.replace(/#.*/, '')))
}

it('the package contains the files that its pages link to', async () => {
  expect(files).toContain('dist/index.js')
  const pages = files.filter((path) => path.endsWith('.md'))
  expect(pages).toContain('docs/durability.md')
  const links = await Promise.all(
    pages.map(async (page) =>
      linksOf(page, await readFile(join(checkout, page), 'utf8')).map((link) => `${page} -> ${link}`),
    ),
  )
  expect(links.flat().length).toBeGreaterThan(30)
  const broken = links.flat().filter((link) => {
    const path = link.slice(link.indexOf(' -> ') + 4)
    return !files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  })
  expect(broken).toEqual([])
})

it('the package contains no source map, and refers to none', async () => {
  expect(files.filter((path) => path.endsWith('.map'))).toEqual([])
  const code = files.filter((path) => /\.(js|mjs|d\.ts)$/.test(path))
  const texts = await Promise.all(code.map((path) => readFile(join(checkout, path), 'utf8')))
  const naming = code.filter((_, place) => /^\/\/# sourceMappingURL=(?!data:)/m.test(texts[place] ?? ''))
  expect(naming).toEqual([])
})
