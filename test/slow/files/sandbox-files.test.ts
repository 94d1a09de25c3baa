import { afterAll, beforeAll, expect, it } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'

const signal = new AbortController().signal

/** What only Docker has. The conformance suite has what all sandboxes with files do. */
describeDocker('files in a container', () => {
  const backend = useDockerBackend()
  let session: SessionHarness
  beforeAll(async () => {
    session = await new SessionHarness(backend, {}, undefined, 'python,bash,files').open()
  })
  afterAll(() => session.close())

  const write = (path: string, text: string) => {
    const content = session.storeValue(Buffer.from(text).toString('base64'))
    return session.executeStep({ type: 'file', path, offset: 0, content })
  }
  const filesAfter = async (code: string) => {
    const { finalResult } = await session.runCell(`import os\nos.makedirs("/tmp/out", exist_ok=True)\n${code}`)
    expect(finalResult.type).toBe('completed')
    return 'files' in finalResult ? finalResult.files : undefined
  }

  it.each([
    ['a path outside of the writable folder', '/etc/passwd', 'Read-only file system'],
    ['a name with 300 characters', `/tmp/in/${'x'.repeat(300)}`, 'File name too long'],
  ])('an upload to %s fails with the reason of the system', async (_what, path, error) => {
    expect(await write(path, 'x')).toMatchObject({ type: 'failed', kind: 'code_error', error })
  })

  it('code in any language sees an upload', async () => {
    await write('/tmp/in/shared', 'for all')
    session.cell += 1
    const input = { type: 'cell', cell: session.cell, source: 'cat /tmp/in/shared', language: 'bash' } as const
    expect(await session.executeStep(input)).toMatchObject({ type: 'completed', output: 'for all' })
  })

  it.each([
    ['a FIFO', 'os.mkfifo("/tmp/out/x")'],
    ['a socket', 'import socket\nsocket.socket(socket.AF_UNIX).bind("/tmp/out/x")'],
  ])('%s is reported with the reason why it is not kept', async (_what, code) => {
    const files = await filesAfter(code)
    expect(files).toMatchObject([{ path: '/tmp/out/x', problem: 'it is not an ordinary file' }])
    await filesAfter('os.remove("/tmp/out/x")')
  })

  it.each([
    ['a link', '/dev/stdin', 'Too many levels of symbolic links'],
    ['an endless file', '/dev/zero', 'it is not an ordinary file'],
  ])('%s is not read', async (_what, path, reason) => {
    const part = { path, offset: 0, bytes: 1_000 }
    const options = { limits: session.limits, part }
    expect(await session.host.readFile(session.session, session.step, options, { attempt: 1, signal })).toEqual({
      type: 'no_snapshot',
      reason,
    })
    session.addComputeTime(1)
    expect(await session.runCell('print(1)')).toMatchObject({ output: '1\n' })
  })
})
