import { expect, it } from 'vitest'
import { defineAgent } from '../../../src/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

describeDocker('a session as a place to work', () => {
  it('commands, files and code share the sandbox, also after it was lost', async () => {
    const calls: unknown[] = []
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [
        tool('charge', ({ id }) => {
          calls.push(id)
          return id
        }),
      ],
    })
    const session = env.ptc.session(uniqueName('work'), { tools: ['charge'] })
    const handle = env.sessionHandle(session.name)
    await session.files.write('data/in.txt', 'é\r\nPASSWORD=hunter22\n')
    const first = await session.commands.execute('cd data; echo out; echo err >&2; tool charge id=1 >id; false | true')
    expect(first).toMatchObject({
      status: 'ok',
      stdout: 'out\n',
      stderr: 'err\n[exit codes of the last pipeline: 1 0]',
      exitCode: 0,
      execution: { isNew: false, toolCalls: 1 },
    })
    expect((await session.execute('print(open("data/id").read())')).outcome).toMatchObject({ output: '"1"\n\n' })
    expect(await killContainersOf(handle.workflowId)).toBe(1)
    expect(await session.files.read('data/in.txt')).toBe('é\r\nPASSWORD=hunter22\n')
    expect(await session.files.list('.', { depth: 2 })).toMatchObject([
      { path: 'data', type: 'folder' },
      { path: 'data/id', type: 'file', size: 4 },
      { path: 'data/in.txt', type: 'file', size: 22 },
    ])
    expect(await session.commands.execute('pwd; exit 7')).toMatchObject({
      status: 'code_error',
      stdout: '/tmp/data\n',
      exitCode: 7,
      error: 'exit code 7',
    })
    const stopped = await session.commands.execute('while :; do :; done', { timeoutSeconds: 0.5 })
    expect(stopped).toMatchObject({ status: 'timed_out', error: expect.stringContaining('0.5 seconds') as string })
    expect(stopped).not.toHaveProperty('exitCode')
    const refused = await session.commands.execute('rm -rf /')
    expect(refused).toMatchObject({
      status: 'code_error',
      error: expect.stringMatching(/^dangerous_command/) as string,
    })
    expect(refused).not.toHaveProperty('exitCode')
    expect(calls).toEqual(['1'])
    await env.ptc.sessions.close(session.name)
    await env.expectCleanEnd(handle)
  })

  it('failures of files are errors with the code of the tool', async () => {
    const env = await TestEnvironment.start({ backend: 'docker' })
    const session = env.ptc.session(uniqueName('work'))
    const failsWith = (message: RegExp) => ({
      code: 'SESSION_FILE_FAILED',
      message: expect.stringMatching(message) as string,
    })
    await expect(session.files.read('missing')).rejects.toMatchObject(failsWith(/^not_found: missing/))
    await expect(session.files.read('/etc/passwd')).rejects.toMatchObject(failsWith(/^path_outside: /))
    await expect(session.files.write('/skills/x', '')).rejects.toMatchObject(failsWith(/^(read_only|not_found): /))
    await session.commands.execute('head -c 300000 /dev/zero | tr "\\0" x >large; printf "\\377" >latin')
    await expect(session.files.read('large')).rejects.toMatchObject(failsWith(/^too_large: large has 300000 bytes/))
    await expect(session.files.read('latin')).rejects.toMatchObject(failsWith(/^not_text: /))
    await expect(session.files.write('big', 'x'.repeat(300_000))).rejects.toMatchObject(failsWith(/^limit_exceeded: /))
    await session.files.write('almost', 'x'.repeat(190_000))
    expect(await session.files.read('almost')).toHaveLength(190_000)
    await env.ptc.sessions.close(session.name)
  })

  it('a session that was started without an environment says so', async () => {
    const env = await TestEnvironment.start({ backend: 'docker' })
    const name = uniqueName('plain')
    await env.ptc.sessions.execute(name, 'x = 1')
    await expect(env.ptc.session(name).files.read('f')).rejects.toMatchObject({
      code: 'RUN_INPUT_INVALID',
      message: expect.stringContaining('was started without an environment') as string,
    })
    await env.ptc.sessions.close(name)
  })

  it('agents with and without an environment work in a session that has one', async () => {
    const agents = [
      defineAgent({ name: 'coder', instructions: 'You write code.', environment: true }),
      defineAgent({ name: 'writer', instructions: 'You write code.' }),
    ]
    const env = await TestEnvironment.start({
      backend: 'docker',
      agents,
      script: {
        conversations: [
          {
            match: { firstUserText: 'commands' },
            turns: [turn(call('execute_command', { command: 'cat f; echo two >>f; exit 2' })), answerResult],
          },
          { match: { firstUserText: 'code' }, turns: [turn(code('print(open("f").read())')), answerResult] },
        ],
      },
    })
    const session = env.ptc.session(uniqueName('work'))
    await session.files.write('f', 'one\n')
    const coder = await env.startAgent({ agent: 'coder', session: session.name, question: 'commands' })
    expect(await env.agentResult(coder)).toMatchObject({
      status: 'answered',
      answer: expect.stringMatching(/^one\n\[exit code 2, \d+\.\d s\]$/) as string,
    })
    const writer = await env.startAgent({ agent: 'writer', session: session.name, question: 'code' })
    expect(await env.agentResult(writer)).toMatchObject({ status: 'answered', answer: 'one\ntwo' })
    await env.ptc.sessions.close(session.name)
  })
})
