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

/** Loads modules of the build in a separate process. Returns the paths and URLs of the modules that were loaded. */
async function loadedModules(...modules: readonly string[]): Promise<readonly string[]> {
  const script = `
    import { createRequire, register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
    for (const path of ${JSON.stringify(modules)}) await import(${JSON.stringify(new URL('../../../dist/', import.meta.url))} + path)
    for (const path of Object.keys(createRequire(import.meta.url).cache)) console.error('loaded ' + path)
  `
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: checkout })
  return [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, path = '']) => path)
}

/** Returns the packages that were loaded, without this one. */
async function loadedPackages(...modules: readonly string[]): Promise<ReadonlySet<string>> {
  const names = (await loadedModules(...modules)).flatMap(
    (path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  )
  return new Set(names)
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

it('a worker loads this package from few files', async () => {
  const loaded = await loadedModules('cli/program.js', 'cli/environment/cli-worker.js', 'index.js')
  const own = new Set(loaded.filter((path) => path.includes('/dist/') && !path.includes('/node_modules/')))
  expect(own.size).toBeGreaterThan(0)
  // `npm run build` merges some 600 modules.
  expect(own.size).toBeLessThan(200)
})

it('a module exists once in a process, by whichever path it is imported', async () => {
  const paths = ['index.js', 'tools/tool-error.js', 'common/errors.js', 'client/index.js']
  const script = `
    const [definitions, toolErrors, errors, client] = await Promise.all(
      ${JSON.stringify(paths)}.map((path) => import(${JSON.stringify(new URL('../../../dist/', import.meta.url))} + path)))
    console.log(definitions.ToolError === toolErrors.ToolError, definitions.PtcError === errors.PtcError,
      client.PtcError === errors.PtcError)
  `
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: checkout })
  expect(stdout).toBe('true true true\n')
})
