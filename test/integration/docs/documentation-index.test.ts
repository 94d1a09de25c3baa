import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { documentationPages, root } from '../../support/docs/code-blocks.js'

/** Links of a page to pages of the repository, as paths from its root. */
async function linksOf(page: string): Promise<readonly string[]> {
  const markdown = await readFile(join(root, page), 'utf8')
  const links = [...markdown.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
  return links.map((link) => relative(root, join(root, page, '..', link)))
}

it('docs/README.md links each page and each example', async () => {
  const links = await linksOf('docs/README.md')
  const examples = (await readdir(join(root, 'examples'))).map((name) => `examples/${name}/README.md`)
  // ADRs have an index of their own; docs/upstream has reports for other projects.
  const pages = documentationPages().filter((page) => /^docs\/((guides|reference)\/)?[^/]+\.md$/.test(page))
  expect(pages.length).toBeGreaterThan(30)
  const expected = [...pages, ...examples].filter((page) => page !== 'docs/README.md')
  expect(expected.filter((page) => !links.includes(page))).toEqual([])
})

it('README.md links few pages, among them the index', async () => {
  const links = await linksOf('README.md')
  expect(links).toContain('docs/README.md')
  expect(links.length).toBeLessThan(10)
})
