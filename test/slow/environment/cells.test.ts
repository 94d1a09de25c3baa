import { afterEach, describe, expect, it } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend } from '../../../src/sandbox/docker/backend.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { describeGvisor, gvisorRuntime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'

const language = 'bash,environment'

/** Uses a tool of the environment, as the cell that a tool use becomes. */
async function use(harness: SessionHarness, tool: string, args: object, policy: object = {}) {
  const program = JSON.stringify({ tool, arguments: args, ...policy })
  const { finalResult, output, calls } = await harness.runCell(program, undefined, { language: 'environment' })
  const end = finalResult.type === 'failed' ? { kind: finalResult.kind, error: finalResult.error } : {}
  return { type: finalResult.type, output, calls, ...end }
}

const failed = (error: string | RegExp, kind = 'code_error') => ({
  type: 'failed',
  kind,
  error: typeof error === 'string' ? error : (expect.stringMatching(error) as string),
})

describeDocker('cells of an environment', () => {
  const backend = useDockerBackend()
  const open: SessionHarness[] = []
  const session = async (limits = {}) => {
    const harness = await new SessionHarness(backend, limits, undefined, language).open()
    open.push(harness)
    return harness
  }
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()))
  })

  it('commands keep variables and the working directory, also for cells in bash', async () => {
    const harness = await session()
    await use(harness, 'execute_command', { command: 'mkdir d; cd d; x=1' })
    await harness.runCell('x=$x$x; echo $x >f', undefined, { language: 'bash' })
    expect(
      await use(harness, 'execute_command', { command: 'pwd; cat f; echo $x; echo err >&2; exit 4' }),
    ).toMatchObject({
      ...failed('exit code 4'),
      output: '/tmp/d\n11\n11\nerr\n',
    })
    expect(await use(harness, 'execute_command', { command: 'false | cat' })).toMatchObject({
      type: 'completed',
      output: '[exit codes of the last pipeline: 1 0]',
    })
  })

  it('a command calls tools, which are calls of the run', async () => {
    const harness = await session()
    const { output, calls } = await use(harness, 'execute_command', { command: 'tool get a=1 | jq -r .a' })
    expect([output, calls.map(({ tool }) => tool)]).toEqual(['1\n', ['get']])
  })

  it('a command that takes longer than its limit is stopped, and the state of before stays', async () => {
    const harness = await session()
    await use(harness, 'execute_command', { command: 'x=1; cd /' })
    expect(
      await use(harness, 'execute_command', { command: 'while :; do :; done', timeout_seconds: 0.5 }),
    ).toMatchObject(failed(/^the code was stopped: it may run 0\.5 seconds/, 'timed_out'))
    expect(await use(harness, 'execute_command', { command: 'echo $x' })).toMatchObject({ output: '1\n' })
  })

  it('a dangerous command is refused before anything of it runs', async () => {
    const harness = await session()
    expect(await use(harness, 'execute_command', { command: 'touch done; rm -rf /' })).toMatchObject(
      failed('dangerous_command: it removes all files below /'),
    )
    expect(await use(harness, 'list_files', {})).toMatchObject({ output: '[the folder is empty]' })
  })

  it('keys in the output of a command are masked, also in the live output, and not for a program', async () => {
    const harness = await session()
    let live = ''
    harness.onOutput = (text) => (live += text)
    const command = 'echo DB_PASSWORD=hunter22; /bin/sleep 0.5; echo token=ghp_$(printf a%.0s {1..36})'
    expect(await use(harness, 'execute_command', { command })).toMatchObject({
      output: 'DB_PASSWORD=[masked]\ntoken=[masked]\n',
    })
    expect(live).not.toContain('hunter22')
    expect((await use(harness, 'execute_command', { command }, { raw: true })).output).toContain('hunter22')
  })

  it('a full disk is named, and a file that is replaced stays as it was', async () => {
    const harness = await session()
    await use(harness, 'write_file', { path: 'kept', content: 'old' })
    await use(harness, 'execute_command', { command: 'head -c 63M /dev/zero >fill; head -c 4M /dev/zero >more' })
    const full = failed(/^disk_full: .*no space left \(ENOSPC\)/)
    expect(await use(harness, 'write_file', { path: 'new', content: 'x'.repeat(200_000) })).toMatchObject(full)
    expect(await use(harness, 'write_file', { path: 'kept', content: 'x'.repeat(200_000) })).toMatchObject(full)
    expect(
      await use(harness, 'edit_file', { path: 'kept', old_text: 'old', new_text: 'x'.repeat(200_000) }),
    ).toMatchObject(full)
    expect(await use(harness, 'read_file', { path: 'kept' })).toMatchObject({ output: '     1\told' })
    expect(await use(harness, 'list_files', {})).toMatchObject({
      output: expect.not.stringContaining('.tmp') as string,
    })
  })

  it('an expression that takes forever is stopped by the time limit of the tool', async () => {
    const harness = await session()
    await use(harness, 'write_file', { path: 'f', content: 'a'.repeat(60) + '!' })
    expect(await use(harness, 'grep', { pattern: '(a+)+$' })).toMatchObject(
      failed(/^the code was stopped: it may run 20 seconds/, 'timed_out'),
    )
    expect(await use(harness, 'grep', { pattern: 'a!' })).toMatchObject({ output: expect.stringMatching(/^f:1: a+!$/) })
  }, 60_000)

  it('a folder with as many files as a sandbox may have is listed and searched', async () => {
    const harness = await session()
    const make = 'mkdir many && cd many && seq -w 1 100000 | xargs touch 2>/dev/null; ls -f | wc -l'
    const { output } = await use(harness, 'execute_command', { command: make })
    const count = Number(output.trim().split('\n')[0]) - 2
    expect(count).toBeGreaterThan(4_000)
    expect(await use(harness, 'write_file', { path: 'one-more', content: '' })).toMatchObject(failed(/^disk_full: /))
    expect((await use(harness, 'list_files', { path: 'many' })).output).toContain(`[100 of ${count} entries`)
    expect((await use(harness, 'grep', { pattern: 'x', path: 'many' })).output).toBe(
      `[no line matches in ${count} files]`,
    )
  })

  it('devices, processes and the rest of the image are outside', async () => {
    const harness = await session()
    const paths = ['/dev/zero', '/proc/self/environ', '/proc/1/root/etc/passwd', '/etc/passwd', '/run/tools/tools.sock']
    for (const path of paths) {
      const outside = failed(/^(path_outside|not_permitted): /)
      expect(await use(harness, 'read_file', { path })).toMatchObject(outside)
      expect(await use(harness, 'write_file', { path, content: '' })).toMatchObject(outside)
    }
    await use(harness, 'execute_command', { command: 'ln -s /dev/zero z; ln -s /proc/self/mem m; mkfifo p' })
    expect(await use(harness, 'read_file', { path: 'z' })).toMatchObject(failed(/^path_outside: /))
    expect(await use(harness, 'read_file', { path: 'm' })).toMatchObject(failed(/^path_outside: /))
    expect(await use(harness, 'read_file', { path: 'p' })).toMatchObject(failed('not_a_file: p is a FIFO'))
    expect(await use(harness, 'read_file', { path: '/tmp/../proc/self/root/tmp/p' })).toMatchObject(
      failed(/^not_a_file: .* is a FIFO$/),
    )
  })

  it('a program that is none of a tool is refused, and leaves the session as it is', async () => {
    const harness = await session()
    const run = (source: string) => harness.runCell(source, undefined, { language: 'environment' })
    const sources = ['x', '[]', '{}', '{"tool":"read_file"}', '{"tool":["a"],"arguments":{}}', '['.repeat(100_000)]
    for (const source of sources) {
      expect((await run(source)).finalResult).toMatchObject(failed(/^invalid_arguments: /))
    }
    expect((await run('{"tool":"list_files","arguments":{}}')).finalResult.type).toBe('completed')
  })

  it('a program by reference, with more text than an argument of a process may have', async () => {
    const harness = await session()
    const content = 'é\n'.repeat(80_000)
    const program = harness.storeValue(JSON.stringify({ tool: 'write_file', arguments: { path: 'f', content } }))
    harness.cell += 1
    const cell = { type: 'cell', cell: harness.cell, source: program, language: 'environment' } as const
    expect(await harness.executeStep(cell)).toMatchObject({
      type: 'completed',
      output: 'created /tmp/f: 240000 bytes',
    })
    expect((await use(harness, 'read_file', { path: 'f' }, { raw: true })).output).toBe(content)
  })
})

describe('under gVisor', async () => {
  describeGvisor('cells of an environment under gVisor', await missingGvisorRuntime(), () => {
    it('a command and a file tool work without a look at processes', async () => {
      const backend = createDockerBackend({ runtime: gvisorRuntime })
      await backend.ensureImage()
      const harness = await new SessionHarness(backend, {}, undefined, language).open()
      await use(harness, 'execute_command', { command: 'mkdir d; tool get a=1 >d/f' })
      expect(await use(harness, 'read_file', { path: 'd/f' })).toMatchObject({ output: '     1\t{"a": "1"}' })
      expect(await use(harness, 'read_file', { path: '/etc/passwd' })).toMatchObject(failed(/^path_outside: /))
      await harness.close()
      await backend.close()
    })
  })
})
