import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

/** Loads modules of the build in a process of their own. Returns whether that loaded `@temporalio/testing`. */
async function loadsTesting(...modules: readonly string[]): Promise<boolean> {
  const script = `
    import { createRequire } from 'node:module'
    for (const path of ${JSON.stringify(modules)}) await import('./dist/' + path)
    const loaded = Object.keys(createRequire(import.meta.url).cache)
    console.log(...['common', 'testing'].map((name) => loaded.some((path) => path.includes('@temporalio/' + name))))
  `
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: checkout })
  const [loadsCommon, loads] = stdout.trim().split(' ')
  expect(loadsCommon).toBe('true')
  return loads === 'true'
}

it('only durable-ptc/testing loads @temporalio/testing', async () => {
  const production = ['index.js', 'client/index.js', 'sandbox/index.js', 'worker/index.js', 'cli/program.js']
  expect(await loadsTesting(...production, 'cli/demo/demo-model.js')).toBe(false)
  expect(await loadsTesting('testing/index.js')).toBe(true)
})
