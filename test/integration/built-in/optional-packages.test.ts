import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/folders.js'
import { body, makePdf, startWebServer } from '../../support/web/web-server.js'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

/** Calls web_fetch of an installation that has only these optional packages. Prints the text, or the error. */
async function fetchWith(packages: readonly string[], { port, url }: { port: number; url: string }): Promise<string> {
  const { dependencies } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const project = await temporaryFolder()
  await mkdir(join(project, 'node_modules'))
  const isNeeded = (path: string): boolean => !/workflow-bundle|\.d\.c?ts$/.test(path)
  await cp(join(checkout, 'dist'), join(project, 'dist'), { recursive: true, filter: isNeeded })
  for (const name of [...Object.keys(dependencies), ...packages]) {
    await mkdir(join(project, 'node_modules', name, '..'), { recursive: true })
    await symlink(join(checkout, 'node_modules', name), join(project, 'node_modules', name))
  }
  await cp(join(checkout, 'package.json'), join(project, 'package.json'))
  await writeFile(
    join(project, 'main.mjs'),
    `
import { webFetch } from './dist/tools/built-in/index.js'
const tool = webFetch({ ports: [${port}], privateAddresses: ['127.0.0.1'] })
const context = { run: { namespace: '', workflowId: '' }, signal: new AbortController().signal }
await tool.run({ url: ${JSON.stringify(url)}, start: 0, maxCharacters: 100 }, context).then(
  ({ text }) => console.log(text),
  ({ message }) => console.log(message),
)
`,
  )
  const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: project })
  return stdout.trim()
}

const ofWeb = ['parse5-sax-parser', 'robots-parser']

it('a PDF without package unpdf is refused with the name of the package, and other pages are read', async () => {
  const server = await startWebServer({
    '/pdf': body(makePdf(Buffer.from('BT (a) Tj ET')), 'application/pdf'),
    '/html': body('<p>a', 'text/html'),
  })
  const { port } = server
  expect(await fetchWith(ofWeb, { port, url: server.url('/pdf') })).toBe(
    "the PDF of the page can't be read without package unpdf: install it with durable-ptc (npm install unpdf)",
  )
  expect(await fetchWith(ofWeb, { port, url: server.url('/html') })).toBe('a')
})

it('without the package for HTML a page is refused with its name, and the configuration loads', async () => {
  const { port, url } = await startWebServer({ '/html': body('<p>a', 'text/html') })
  expect(await fetchWith([], { port, url: url('/html') })).toContain('npm install parse5-sax-parser')
})
