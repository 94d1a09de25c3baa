import { existsSync } from 'node:fs'
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
  const pages = documentationPages().filter((page) =>
    /^docs\/((guides|reference|contributing)\/)?[^/]+\.md$/.test(page),
  )
  expect(pages.length).toBeGreaterThan(30)
  const expected = [...pages, ...examples].filter((page) => page !== 'docs/README.md')
  expect(expected.filter((page) => !links.includes(page))).toEqual([])
})

it('README.md links few pages, among them the index', async () => {
  const links = await linksOf('README.md')
  expect(links).toContain('docs/README.md')
  expect(links.length).toBeLessThan(10)
})

it('each path in a recipe of docs/contributing exists', async () => {
  const recipes = documentationPages().filter((page) => page.startsWith('docs/contributing/'))
  expect(recipes.length).toBeGreaterThan(6)
  const texts = await Promise.all(recipes.map((page) => readFile(join(root, page), 'utf8')))
  const paths = texts.flatMap((text) => [...text.matchAll(/`((?:api|runner|scripts|src|test)\/[^`\s]*)`/g)])
  const files = paths.map(([, path = '']) => path).filter((path) => !/NAME|FOLDER/.test(path))
  expect(files.length).toBeGreaterThan(40)
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
