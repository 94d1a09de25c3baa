import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partBytes } from '../../../src/common/files/files.js'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'

const signal = new AbortController().signal
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

describeDocker('files in a sandbox', () => {
  const backend = useDockerBackend()
  let session: SessionHarness
  beforeAll(async () => {
    session = await new SessionHarness(backend, { tmpBytes: 48 << 20 }, undefined, 'python,bash,files').open()
  })
  afterAll(() => session.close())

  let attempt = 0
  const write = (path: string, content: Uint8Array | string, offset = 0) =>
    session.executeStep({
      type: 'file',
      path,
      offset,
      content: session.storeValue(Buffer.from(content).toString('base64')),
    })
  const read = async (path: string, offset = 0, bytes = partBytes) => {
    attempt += 1
    const options = { limits: session.limits, part: { path, offset, bytes } }
    const answer = await session.host.readFile(session.session, session.step, options, { attempt, signal })
    if (answer?.type !== 'snapshot') return answer?.reason
    return Buffer.concat(answer.pieces.map((piece) => Buffer.from(piece, 'base64')))
  }
  const filesAfter = async (code: string) => {
    const { finalResult, output } = await session.runCell(code)
    expect([finalResult.type, output]).toEqual(['completed', ''])
    return 'files' in finalResult ? finalResult.files : undefined
  }
  const python = (code: string) => filesAfter(`import os, shutil\nos.makedirs("/tmp/out", exist_ok=True)\n${code}`)

  describe('uploads', () => {
    it('an upload in two parts is one file, which the next cell reads', async () => {
      expect(await write('/tmp/in/a/b.txt', 'Grüße, ')).toMatchObject({ type: 'completed', output: '' })
      expect(await write('/tmp/in/a/b.txt', 'Welt', 9)).toMatchObject({ type: 'completed' })
      expect(await session.runCell('print(open("/tmp/in/a/b.txt").read())')).toMatchObject({ output: 'Grüße, Welt\n' })
    })

    it('an upload replaces a longer file', async () => {
      await write('/tmp/in/longer', 'x'.repeat(1_000))
      await write('/tmp/in/longer', 'short')
      expect(await read('/tmp/in/longer')).toEqual(Buffer.from('short'))
    })

    it('an upload replaces a link, and does not follow it', async () => {
      await session.runCell('import os\nopen("/tmp/kept", "w").write("kept")\nos.symlink("/tmp/kept", "/tmp/in/link")')
      expect(await write('/tmp/in/link', 'new')).toMatchObject({ type: 'completed' })
      expect(await read('/tmp/kept')).toEqual(Buffer.from('kept'))
      expect(await read('/tmp/in/link')).toEqual(Buffer.from('new'))
    })

    it.each([
      ['a folder', '/tmp/in/a', 'Is a directory'],
      ['a file as a folder', '/tmp/in/longer/x', 'Not a directory'],
      ['a path outside of the writable folder', '/etc/passwd', 'Read-only file system'],
      ['a name with 300 characters', `/tmp/in/${'x'.repeat(300)}`, 'File name too long'],
    ])('an upload to %s fails with the reason of the system', async (_what, path, error) => {
      expect(await write(path, 'x')).toMatchObject({ type: 'failed', kind: 'code_error', error })
    })

    it('an upload that does not fit fails, and the session continues', async () => {
      const part = randomBytes(partBytes)
      const results = []
      for (let index = 0; index < 8; index += 1) results.push(await write('/tmp/in/large', part, index * partBytes))
      expect(results.at(0)).toMatchObject({ type: 'completed' })
      expect(results.at(-1)).toMatchObject({ type: 'failed', error: 'No space left on device' })
      expect(await session.runCell('import os\nos.remove("/tmp/in/large")\nprint(1)')).toMatchObject({ output: '1\n' })
    })

    it('a value that is not Base64 is a failure', async () => {
      const content = session.storeValue('é'.repeat(10))
      const result = await session.executeStep({ type: 'file', path: '/tmp/in/bad', offset: 0, content })
      expect(result).toMatchObject({ type: 'failed', error: 'the content is not Base64' })
    })

    it('code in any language sees an upload', async () => {
      await write('/tmp/in/shared', 'for all')
      session.cell += 1
      const input = { type: 'cell', cell: session.cell, source: 'cat /tmp/in/shared', language: 'bash' } as const
      expect(await session.executeStep(input)).toMatchObject({ type: 'completed', output: 'for all' })
    })
  })

  describe('artifacts', () => {
    it('a cell reports files that are new or have another content, once', async () => {
      const content = Buffer.from('one')
      const reported = [{ path: '/tmp/out/a/one.txt', bytes: 3, sha256: sha256(content) }]
      expect(await python('os.makedirs("/tmp/out/a")\nopen("/tmp/out/a/one.txt", "w").write("one")')).toEqual(reported)
      expect(await python('')).toBeUndefined()
      expect(await python('open("/tmp/out/a/one.txt", "w").write("one")')).toBeUndefined()
      expect(await python('open("/tmp/out/a/one.txt", "w").write("two")')).toMatchObject([{ bytes: 3 }])
    })

    it('a change that keeps size and time of a file is reported', async () => {
      await python('open("/tmp/out/same", "w").write("aaa")')
      const change = 't = os.stat("/tmp/out/same")\nopen("/tmp/out/same", "w").write("bbb")\n'
      const keepTime = 'os.utime("/tmp/out/same", ns=(t.st_atime_ns, t.st_mtime_ns))'
      expect(await python(change + keepTime)).toMatchObject([{ sha256: sha256(Buffer.from('bbb')) }])
    })

    it('a failed cell reports its files', async () => {
      const { finalResult } = await session.runCell('open("/tmp/out/before", "w").write("x")\n1 / 0')
      expect(finalResult).toMatchObject({ type: 'failed', files: [{ path: '/tmp/out/before' }] })
    })

    it.each([
      ['a link', 'os.symlink("/etc/passwd", "/tmp/out/x")', 'it is a link'],
      ['a FIFO', 'os.mkfifo("/tmp/out/x")', 'it is not an ordinary file'],
      ['a socket', 'import socket\nsocket.socket(socket.AF_UNIX).bind("/tmp/out/x")', 'it is not an ordinary file'],
      ['a file without permission', 'open("/tmp/out/x", "w")\nos.chmod("/tmp/out/x", 0)', 'Permission denied'],
    ])('%s is reported with the reason why it is not kept', async (_what, code, problem) => {
      const files = await python(code)
      expect(files).toMatchObject([{ path: '/tmp/out/x', problem }])
      await python('os.remove("/tmp/out/x")')
    })

    it('a name that is not UTF-8 is reported with escapes', async () => {
      const files = await python('open(b"/tmp/out/\\xff", "w")')
      expect(files).toEqual([{ path: '/tmp/out/\\xff', bytes: 0, problem: 'its name is not UTF-8' }])
      await python('os.remove(b"/tmp/out/\\xff")')
    })

    it('a folder that is a link has no artifacts', async () => {
      await python('shutil.rmtree("/tmp/out")')
      expect(await filesAfter('os.symlink("/tmp/in", "/tmp/out")')).toBeUndefined()
      await filesAfter('os.remove("/tmp/out")')
    })

    it('of 250 files, 99 are reported with each cell, and the number of the others', async () => {
      const first = await python('for n in range(250): open(f"/tmp/out/{n:03}", "w").write(str(n))')
      expect(first).toHaveLength(100)
      expect(first?.at(-1)).toEqual({ path: '/tmp/out', bytes: 0, problem: '151 more files: too many for one cell' })
      expect((await python(''))?.at(-1)).toMatchObject({ problem: '52 more files: too many for one cell' })
      expect(await python('')).toHaveLength(52)
      await python('shutil.rmtree("/tmp/out")')
    })
  })

  describe('reading', () => {
    it('a file is read in parts, in pieces of frames', async () => {
      const content = randomBytes(partBytes + 12_345)
      await write('/tmp/in/random', content.subarray(0, partBytes))
      await write('/tmp/in/random', content.subarray(partBytes), partBytes)
      const parts = []
      for (const offset of [0, partBytes, content.length]) parts.push(await read('/tmp/in/random', offset))
      expect(parts.map((part) => part?.length)).toEqual([partBytes, 12_345, 0])
      expect(Buffer.concat(parts as Buffer[]).equals(content)).toBe(true)
    })

    it.each([
      ['a file that is gone', '/tmp/out/none', 'No such file or directory'],
      ['a link', '/dev/stdin', 'Too many levels of symbolic links'],
      ['an endless file', '/dev/zero', 'it is not an ordinary file'],
      ['a folder', '/tmp', 'it is not an ordinary file'],
    ])('%s is not read', async (_what, path, reason) => {
      expect(await read(path)).toBe(reason)
    })

    it('the session goes on after all that', async () => {
      expect(await session.runCell('print(await get(a=1))')).toMatchObject({ output: "{'a': 1}\n" })
    })
  })
})
