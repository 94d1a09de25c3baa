import { expect, it, vi } from 'vitest'
import { isolateTests, startServer } from '../../integration/models/harness.js'
import { chunk, done, startChatStream, usageChunk } from '../../integration/models/openai-harness.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { defineAgent } from '../../../src/index.js'

isolateTests()

const toolCall = (index: number, name: string, args: object) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})

describeDocker('an environment with a model of another vendor', () => {
  it('the tools are functions with the same names, and a use with invalid arguments has a result', async () => {
    vi.stubEnv('LOCAL_KEY', 'key-of-the-server')
    const calls = [
      toolCall(0, 'write_file', { path: 'f', content: 'a\n' }),
      toolCall(1, 'execute_command', { command: 'cat f' }),
      toolCall(2, 'edit_file', { path: 'f', old_text: 'x', new_text: 'y' }),
      { ...toolCall(3, 'read_file', {}), function: { name: 'read_file', arguments: '{"path": ' } },
      toolCall(4, 'run_code', { language: 'python', code: 'print(1 + 1)' }),
      toolCall(5, 'run_code', { language: 'cobol', code: '' }),
      toolCall(6, 'run_code', { language: 'environment', code: '{"tool":"list_files","arguments":{}}' }),
      toolCall(7, 'run_code', { language: 'python' }),
      toolCall(8, 'execute_code', { language: 'environment', code: '{"tool":"list_files","arguments":{}}' }),
    ]
    const replies = [
      chunk({ tool_calls: calls }) + chunk({}, 'tool_calls') + usageChunk + done,
      chunk({ content: 'Done.' }) + chunk({}, 'stop') + usageChunk + done,
    ]
    let sent = 0
    const { url, requests } = await startServer((response) => {
      startChatStream(response)
      response.end(replies[sent])
      sent += 1
    })
    const environment = ['execute_command', 'read_file', 'write_file', 'edit_file', 'run_code'] as const
    const env = await TestEnvironment.start({
      backend: 'docker',
      agents: [defineAgent({ name: 'coder', instructions: 'You write code.', environment })],
      providers: { local: { kind: 'openai', baseURL: `${url}/v1`, apiKey: { environment: 'LOCAL_KEY' } } },
    })
    const result = await env.runAgent({ agent: 'coder', model: 'local/org/model-1' })
    expect(result).toMatchObject({ status: 'answered', answer: 'Done.', cells: 4 })
    const [first, second] = requests
    const offered = (first?.body['tools'] ?? []) as readonly { readonly function: { readonly name: string } }[]
    expect(offered.map((each) => each.function.name)).toEqual(['execute_code', ...environment, 'read_more'])
    const messages = (second?.body['messages'] ?? []) as readonly { readonly role: string; readonly content: string }[]
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(results[0]).toBe('created /tmp/f: 2 bytes')
    expect(results[1]).toMatch(/^a\n\[exit code 0, \d+\.\d s\]$/)
    expect(results[2]).toMatch(/no_match: old_text is not in f\./)
    expect(results[3]).toMatch(/read_file|JSON/)
    expect(results[4]).toBe('2')
    expect(results[5]).toContain('there is no language "cobol" here, only python')
    expect(results[6]).toContain('there is no language "environment" here, only python')
    expect(results[7]).toContain('run_code takes {"code": "..."}')
    expect(results[8]).toContain('there is no language "environment" here, only python')
    // The conversation keeps what the model wrote.
    expect(JSON.stringify(messages)).toContain('"name":"write_file"')
  })
})
