import { expect, it } from 'vitest'
import { defineAgent } from '../../../../src/index.js'
import { killContainersOf } from '../../../support/environment/containers.js'
import { requestMessages, TestEnvironment } from '../../../support/environment/test-environment.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { answerResult, call, code, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

describeDocker('an agent with an environment', () => {
  it('the model executes commands and edits files, and a rebuild repeats each of them once', async () => {
    const [called, released] = [new Deferred(), new Deferred<string>()]
    const calls: unknown[] = []
    const slow = tool('slow', () => {
      calls.push('slow')
      called.resolve()
      return released.promise
    })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [slow],
      agents: [defineAgent({ name: 'coder', instructions: 'You write code.', environment: true })],
      script: [
        turn(call('execute_command', { command: 'mkdir -p app && cd app && echo one >>log && false | true' })),
        turn(call('write_file', { path: 'app/main.py', content: 'print("a")\n' })),
        turn(call('execute_command', { command: 'echo two >>log; pwd; tool slow' })),
        turn(
          call('edit_file', { path: 'app/main.py', old_text: '"a"', new_text: '"b"' }),
          call('execute_command', { command: 'python3 main.py; cat log; exit 3' }),
        ),
        turn(call('read_file', { path: 'app/main.py' }), call('read_file', { path: '/etc/passwd' })),
        turn(code('print(open("app/log").read())'), call('grep', { pattern: 'two' }), call('list_files', { depth: 2 })),
        answerResult,
      ],
    })
    const handle = await env.startAgent({ agent: 'coder' })
    await called.promise
    await killContainersOf(handle.workflowId)
    released.resolve('done')
    const result = await env.agentResult(handle)
    expect(result).toMatchObject({ status: 'answered', cells: 10, toolCalls: 1 })
    expect(result.answer).toMatch(/^app\/\napp\/log {2}8 bytes\napp\/main.py {2}11 bytes$/)
    const results = requestMessages(env.api.requests.at(-1)?.body).filter(({ role }) => role === 'user')
    const texts = JSON.stringify(results)
    expect(texts).toMatch(/exit codes of the last pipeline: 1 0\]\\n\[exit code 0, \d+\.\d s\]/)
    expect(texts).toContain('/tmp/app\\n\\"done\\"\\n')
    expect(texts).toMatch(/b\\none\\ntwo\\n\[exit code 3, \d+\.\d s\]/)
    expect(texts).toContain('path_outside: /etc/passwd is outside of /tmp and /skills')
    expect(texts).toContain('app/log:2: two')
    expect(calls).toEqual(['slow'])
    await env.expectCleanEnd(handle)
  })
})
