import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { call, text, turn } from '../../support/script.js'
import { pythonPackages } from '../../support/python/python-environment.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

const fileIn = (name: string) => fileURLToPath(new URL(`../../support/serve/python-clients/${name}`, import.meta.url))
const packages = await pythonPackages(fileIn('requirements.txt'), 'Python clients of the Messages API')
const run = promisify(execFile)

/** The output of the clients, one line of JSON each. */
async function runClients(url: string, clients: readonly string[]): Promise<readonly unknown[]> {
  const { stdout } = await run('python3', [fileIn('clients.py'), url, ...clients], {
    env: { ...process.env, PYTHONPATH: packages, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LANGSMITH_TRACING: 'false' },
    timeout: 300_000,
  })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line) as unknown)
}

it.skipIf(packages === undefined)('works with unchanged tool runners and frameworks in Python', async () => {
  const weather = [call('get_weather', { city: 'Oslo' }), call('get_weather', { city: 'Rome' })]
  const served = await ServeEnvironment.start({
    script: [turn(text('I ask.'), ...weather), turn(text('Both: {{last_tool_result}}'))],
  })
  const { url } = await served.server()
  const clients = ['tool_runner', 'async_tool_runner', 'streaming_tool_runner', 'lite_llm', 'pydantic_ai', 'lang_chain']
  expect(await runClients(url, clients)).toEqual(
    clients.map((client) => ({ client, answer: 'Both: 15 in Rome', asked: ['Oslo', 'Rome'] })),
  )
})

it.skipIf(packages === undefined)('gives answers that fit a schema to unchanged clients in Python', async () => {
  const served = await ServeEnvironment.start({ script: [turn(call('submit_answer', { degrees: 15 }))] })
  const { url } = await served.server()
  const clients = ['parse', 'lang_chain_structured']
  expect(await runClients(url, clients)).toEqual(clients.map((client) => ({ client, answer: 15, asked: [] })))
})
