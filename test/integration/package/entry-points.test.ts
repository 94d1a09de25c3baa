import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

/** Writes the URL of each module that is imported, in the thread of the hooks, to stderr. */
const hooks = `
  import { writeSync } from 'node:fs'
  export async function load(url, context, nextLoad) {
    writeSync(2, 'loaded ' + url + '\\n')
    return nextLoad(url, context)
  }
`

/** Loads modules of the build in a separate process. Returns the packages that were loaded, without this one. */
async function loadedPackages(...modules: readonly string[]): Promise<ReadonlySet<string>> {
  const script = `
    import { createRequire, register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
    for (const path of ${JSON.stringify(modules)}) await import(${JSON.stringify(new URL('../../../dist/', import.meta.url))} + path)
    for (const path of Object.keys(createRequire(import.meta.url).cache)) console.error('loaded ' + path)
  `
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: checkout })
  const packages = [...stderr.matchAll(/^loaded .*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(
    ([, name]) => name ?? '',
  )
  return new Set(packages)
}

const ofWorker =
  /^(@temporalio\/(worker|core-bridge|activity|testing)|@aws-sdk\/.*|@anthropic-ai\/.*|@redis\/.*|@ai-sdk\/.*|dockerode|pyodide|parse5.*|robots-parser|unpdf|jiti|commander)$/

it('durable-ptc/client and definitions load no package of the worker', async () => {
  const loaded = [...(await loadedPackages('client/index.js', 'index.js'))]
  expect(loaded).toEqual(expect.arrayContaining(['@temporalio/client', 'zod']))
  expect(loaded.filter((name) => ofWorker.test(name))).toEqual([])
})

it('only durable-ptc/testing loads @temporalio/testing', async () => {
  const production = ['index.js', 'client/index.js', 'sandbox/index.js', 'worker/index.js', 'cli/program.js']
  const loaded = await loadedPackages(...production, 'worker/plugin/index.js')
  expect(loaded).toContain('@temporalio/worker')
  expect(loaded).not.toContain('@temporalio/testing')
  expect(await loadedPackages('testing/index.js')).toContain('@temporalio/testing')
})

it('a model on Amazon Bedrock names the package that it needs, which another worker may have', async () => {
  const bedrock = '@anthropic-ai/bedrock-sdk'
  const hooks = `export const resolve = (specifier, context, next) =>
    next(specifier === ${JSON.stringify(bedrock)} ? 'not-installed' : specifier, context)`
  const script = `
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
    const { createLazyBedrockProvider } = await import(${JSON.stringify(new URL('../../../dist/models/anthropic/options.js', import.meta.url))})
    await createLazyBedrockProvider({}).load().catch(({ code, hint }) => console.log(code, hint))
  `
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: checkout })
  expect(stdout).toBe(`MODEL_PROVIDER_MISSING Install it with durable-ptc: npm install ${bedrock}.\n`)
})
