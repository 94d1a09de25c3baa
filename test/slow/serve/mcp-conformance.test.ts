import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool } from '../../../src/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { serveMcp, testMcpHost } from '../../support/mcp/mcp-host.js'
import { noModel } from '../../support/script.js'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const image = { type: 'image', data: png, mimeType: 'image/png' }

/** A tool that the suite calls, by the name and with the result that the suite expects. */
function fixture(name: string, run: () => unknown): Tool {
  return defineTool({
    name,
    description: `Fixture ${name} of the conformance suite.`,
    input: z.object({}),
    output: z.json(),
    effect: 'read',
    allowedCallers: ['direct'],
    run: () => run() as z.output<ReturnType<typeof z.json>>,
  })
}

const resourceOf = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})

const tools = [
  fixture('test_simple_text', () => 'This is a simple text response for testing.'),
  fixture('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  }),
  fixture('test_tool_with_progress', () => 'done'),
  fixture('test_image_content', () => [image]),
  fixture('test_audio_content', () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }]),
  fixture('test_embedded_resource', () => [
    resourceOf('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]),
  fixture('test_multiple_content_types', () => [
    { type: 'text', text: 'Multiple content types test:' },
    image,
    resourceOf('test://mixed-content-resource', 'application/json', '{"test":"data"}'),
  ]),
]

/**
 * The scenarios of what the server offers. It offers no prompts, resources, completions and sampling, and its tools ask
 * people only for decisions on calls.
 */
const scenarios = [
  'server-initialize',
  'logging-set-level',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]

it('the MCP server passes the published conformance suite for what it offers', { timeout: 120_000 }, async () => {
  const env = await TestEnvironment.start({ tools, script: noModel })
  const errors: unknown[] = []
  const { url } = await serveMcp(testMcpHost(env, tools, errors))
  const cwd = await temporaryFolder()
  const root = process.cwd()
  const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const preload = join(root, 'test/support/mcp/conformance-on-node-20.mjs')
  const results: string[] = []
  for (const scenario of scenarios) {
    const args = ['--import', preload, suite, 'server', '--url', url, '--scenario', scenario]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 64 * 1024 * 1024 })
    results.push(`${scenario}: ${/Passed: \d+\/\d+, \d+ failed, \d+ warnings/.exec(stdout)?.[0] ?? stdout}`)
  }
  expect(results).toEqual(scenarios.map((each) => expect.stringMatching(`^${each}: Passed: (\\d+)/\\1, 0 failed, 0 w`)))
  expect(errors).toEqual([])
})
