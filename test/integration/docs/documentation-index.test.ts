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

/** The names by which links name the headings of a page, as GitHub makes them. */
function anchorsOf(markdown: string): readonly string[] {
  const headings = [...withoutCode(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  const texts = headings.map((heading) => heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''))
  return texts.map((text) =>
    text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```[^]*?^```/gm, '')
}

it('each link of the documentation leads to a file and a heading', async () => {
  const pages = documentationPages()
  const texts = new Map(
    await Promise.all(pages.map(async (page) => [page, await readFile(join(root, page), 'utf8')] as const)),
  )
  const broken = [...texts].flatMap(([page, markdown]) =>
    [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return []
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : relative(root, join(root, page, '..', path))
      const found = texts.get(target)
      const leads =
        found !== undefined && anchor !== undefined ? anchorsOf(found).includes(anchor) : existsSync(join(root, target))
      return leads ? [] : [`${page}: ${link}`]
    }),
  )
  expect(pages.length).toBeGreaterThan(100)
  expect(broken).toEqual([])
})
