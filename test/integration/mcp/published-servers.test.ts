import { mkdir, readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { McpServer } from '../../../src/index.js'
import type { ApprovalRequest } from '../../../src/config/options/approvals.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, turn } from '../../support/script.js'

/** A server of npm, as it is published. */
function published(name: string, ...args: readonly string[]): McpServer {
  const script = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/dist/index.js`)
  return { command: process.execPath, args: [script, ...args] }
}

it('code and model call the tools of server-everything', async () => {
  vi.stubEnv('TOKEN_OF_TEST', 'the-token-of-the-test')
  onTestFinished(() => void vi.unstubAllEnvs())
  const env = await TestEnvironment.start({
    credentials: { token: { environment: 'TOKEN_OF_TEST' } },
    mcp: { demo: { ...published('server-everything', 'stdio'), approval: 'never', env: { TOKEN: '${token}' } } },
    script: [
      turn(call('demo__echo', { message: 'direct' })),
      turn(
        code(`
print(await demo__echo(message="hi"))
print((await demo__get_structured_content(location="Chicago"))["conditions"])
print([block["type"] for block in await demo__get_tiny_image()])
print(await demo__get_env())
try: await demo__get_structured_content(location="Rome")
except ToolError as error: print(type(error).__name__)
print(await demo__trigger_long_running_operation(duration=1, steps=2))
`),
      ),
      answerResult,
    ],
  })
  const handle = await env.startAgent()
  await handle.result()
  expect(JSON.stringify(env.api.requests.at(-1)?.body)).toContain('Echo: direct')
  const output = JSON.stringify(env.lastUserContent())
  expect(output).toContain('Echo: hi')
  expect(output).toContain("['text', 'image', 'text']")
  expect(output).toContain('Long running operation completed. Duration: 1 seconds, Steps: 2.')
  // A server that prints its environment does not reveal its credential.
  expect(output).not.toContain('the-token-of-the-test')
  expect(output).toContain('TOKEN')
  await env.expectCleanEnd(handle)
})

it('code writes and reads files by server-filesystem, and each write is approved', async () => {
  const folder = await realpath(await temporaryFolder())
  await mkdir(join(folder, 'reports'))
  const requests: ApprovalRequest[] = []
  const env = await TestEnvironment.start({
    mcp: { files: { ...published('server-filesystem', folder), trusted: true } },
    approvals: { onRequest: (request) => void requests.push(request) },
  })
  const handle = await env.startProgram(`
await files__write_file(path="${folder}/reports/may.txt", content="42")
print((await files__read_text_file(path="${folder}/reports/may.txt"))["content"])
try: await files__read_text_file(path="/etc/passwd")
except ToolError as error: print(error)
`)
  const request = await vi.waitUntil(() => requests[0], { timeout: 60_000 })
  expect(request).toMatchObject({ tool: 'files__write_file', arguments: { content: '42' } })
  await env.ptc.approveCall(request.token)
  const { outcome } = (await handle.result()) as { readonly outcome: { readonly output: string } }
  expect(outcome.output).toMatch(/^42\n.*Access denied/)
  expect(await readFile(join(folder, 'reports/may.txt'), 'utf8')).toBe('42')
  await env.expectCleanEnd(handle)
})

it('server-memory keeps what one run wrote for the next run, also when its worker was restarted', async () => {
  const folder = await temporaryFolder()
  const memory = {
    ...published('server-memory'),
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    approval: 'never',
  } as const
  const env = await TestEnvironment.start({ mcp: { memory } })
  await env.runProgram(
    `await memory__create_entities(entities=[{"name": "ada", "entityType": "person", "observations": ["likes tea"]}])`,
  )
  await env.workers.stop()
  await env.workers.start()
  const { outcome } = await env.runProgram('print((await memory__search_nodes(query="tea"))["entities"][0]["name"])')
  expect(outcome).toMatchObject({ status: 'ok', output: 'ada\n' })
})
