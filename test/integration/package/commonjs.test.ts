import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/folders.js'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))
const compiler = join(checkout, 'node_modules/typescript/bin/tsc')

/** Uses a function, a class, a generic type and a type of each entry point. */
const source = `
import { Client, Connection } from '@temporalio/client'
import { defineAgent, defineConfig, defineTool, PtcError, ToolError, type ErrorCode, type Tool } from 'durable-ptc'
import { createPtcClient, PtcError as ClientError, type PtcClient, type RunHandle } from 'durable-ptc/client'
import { sandboxConformance } from 'durable-ptc/sandbox/conformance'
import { runnerDirectory } from 'durable-ptc/sandbox'
import { runTool } from 'durable-ptc/testing'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { PtcPlugin, type PtcPluginOptions } from 'durable-ptc/worker'
import type { openSession, runAgent } from 'durable-ptc/workflow'
import { z } from 'zod'

const plus = defineTool({
  name: 'plus',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.number(),
  effect: 'read',
  run: ({ a, b }) => a + b,
})
const clerk = defineAgent({ name: 'clerk', instructions: 'You work.', output: z.object({ total: z.number() }) })
export const config = defineConfig({ tools: [plus], agents: [clerk] })
class OutOfStock extends ToolError {}
export const isCode = (error: unknown, code: ErrorCode): boolean => PtcError.isInstance(error) && error.code === code
export async function total(ptc: PtcClient): Promise<number> {
  const run = await ptc.startAgent(clerk, { question: 'How much?' })
  const result = await run.result()
  return result.status === 'answered' ? result.output.total : 0
}
export type Uses = [Tool, RunHandle<string>, PtcPluginOptions, typeof openSession, typeof runAgent]
export const connect = async () => createPtcClient({ client: new Client({ connection: await Connection.connect() }) })

async function main(): Promise<void> {
  const sum: number = await runTool(plus, { a: 40, b: 2 })
  const failure = new OutOfStock('no bolts')
  console.log(sum, failure instanceof ToolError, PtcError === ClientError)
  const plugins = [new PtcPlugin({ tools: [plus] })]
  const workflowsPath = require.resolve('./workflows')
  const { code } = await bundleWorkflowCode({ workflowsPath, plugins, logger: new DefaultLogger('ERROR') })
  console.log(code.includes('restock'), code.includes('executeChild'))
  console.log(typeof runnerDirectory, typeof sandboxConformance)
}
void main()
`

const workflowSource = `
import { runProgram } from 'durable-ptc/workflow'
export const restock = async () => (await runProgram({ source: 'print(1)' })).outcome.status
`

test("a CommonJS project in TypeScript imports every entry point, and bundles workflows with the engine's", async () => {
  const project = await temporaryFolder()
  await mkdir(join(project, 'node_modules'))
  for (const name of ['@temporalio', '@types', 'zod', 'undici-types']) {
    await symlink(join(checkout, 'node_modules', name), join(project, 'node_modules', name))
  }
  await symlink(checkout, join(project, 'node_modules/durable-ptc'))
  await writeFile(join(project, 'package.json'), '{ "private": true }')
  await writeFile(join(project, 'main.ts'), source)
  await writeFile(join(project, 'workflows.ts'), workflowSource)
  const options = ['--strict', '--skipLibCheck', '--types', 'node', '--target', 'es2023', '--module', 'node16']
  await run(process.execPath, [compiler, ...options, 'main.ts', 'workflows.ts'], { cwd: project })
  const { stdout, stderr } = await run(process.execPath, ['main.js'], { cwd: project })
  expect(stdout).toBe('42 true true\ntrue true\nstring function\n')
  expect(stderr).toBe('')
})
