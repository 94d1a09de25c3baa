import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { filesService, type FoundFile, partBytes } from '../../../common/files/files.js'
import type { Limits } from '../../../common/run/limits.js'
import type { StepResult } from '../../../common/session/steps.js'
import type { CaseDefinition, ConformanceContext } from '../conformance-context.js'
import { expectResult } from '../expectations.js'
import { SessionHarness } from '../session-harness.js'

const neverAborted = new AbortController().signal

const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')

/** A sandbox whose run has files, and the requests of the host for them. */
class SandboxWithFiles {
  readonly #harness: SessionHarness
  #reads = 0

  constructor(harness: SessionHarness) {
    this.#harness = harness
  }

  write(path: string, content: Uint8Array | string, offset = 0): Promise<StepResult> {
    return this.writeText(path, Buffer.from(content).toString('base64'), offset)
  }

  writeText(path: string, text: string, offset = 0): Promise<StepResult> {
    const content = this.#harness.storeValue(text)
    return this.#harness.executeStep({ type: 'file', path, offset, content })
  }

  /** Returns the bytes of a part of a file, or why there are none. */
  async read(path: string, offset = 0, bytes = partBytes): Promise<Buffer | string | undefined> {
    this.#reads += 1
    const { host, session, step, limits } = this.#harness
    const options = { limits, part: { path, offset, bytes } }
    const answer = await host.readFile(session, step, options, { attempt: this.#reads, signal: neverAborted })
    if (answer?.type !== 'snapshot') return answer?.reason
    return Buffer.concat(answer.pieces.map((piece) => Buffer.from(piece, 'base64')))
  }

  /** Returns what a cell prints. */
  async print(code: string): Promise<string> {
    const { output, finalResult } = await this.#harness.runCell(code)
    expectResult(finalResult, 'completed')
    return output
  }

  /** Returns what is reported after a cell, which must print nothing. */
  async filesAfter(code: string): Promise<readonly FoundFile[]> {
    const source = `import os, shutil\nos.makedirs("/tmp/out", exist_ok=True)\n${code}`
    const { output, finalResult } = await this.#harness.runCell(source)
    assert.equal(output, '')
    return expectResult(finalResult, 'completed').files ?? []
  }
}

/** A case with a sandbox of its own. */
function fileCase(
  name: string,
  run: (sandbox: SandboxWithFiles, harness: SessionHarness) => Promise<void>,
  limits: Partial<Limits> = {},
): CaseDefinition {
  const open = async (context: ConformanceContext) => {
    const harness = new SessionHarness(context.backend, limits, undefined, `${context.language},${filesService}`)
    return context.closeAfterCase(await harness.open())
  }
  return {
    name,
    requires: 'supportsRunFiles',
    async run(context) {
      const harness = await open(context)
      await run(new SandboxWithFiles(harness), harness)
    },
  }
}

function expectFailure(result: StepResult, error: string): void {
  assert.equal(expectResult(result, 'failed').error, error)
}

/** The files of a run: uploads, artifacts, and their bytes for the host. */
export const runFileCases: readonly CaseDefinition[] = [
  fileCase('an upload in two parts is one file, which the next cell reads', async (sandbox) => {
    expectResult(await sandbox.write('/tmp/in/a/b.txt', 'Grüße, '), 'completed')
    expectResult(await sandbox.write('/tmp/in/a/b.txt', 'Welt', 9), 'completed')
    assert.equal(await sandbox.print('print(open("/tmp/in/a/b.txt").read())'), 'Grüße, Welt\n')
  }),
  fileCase('a file that comes while a cell waits is there when its call returns', async (sandbox, harness) => {
    const source = 'path = await get(1)\nprint(open(path).read(), await get(2))'
    const first = expectResult(await harness.startCell(source), 'suspended')
    harness.now += 1_000
    expectResult(await sandbox.write('/tmp/in/tools/a/x.txt', 'one, '), 'completed')
    expectResult(await sandbox.write('/tmp/in/tools/a/x.txt', 'two', 5), 'completed')
    const path = { status: 'ok', value: '/tmp/in/tools/a/x.txt' } as const
    const results = first.calls.map(({ index }) => ({ index, outcome: path }))
    const second = expectResult(await harness.executeStep({ type: 'results', results }), 'suspended')
    expectResult(await sandbox.write('/tmp/in/tools/b', 'later'), 'completed')
    const done = { status: 'ok', value: 'done' } as const
    const last = second.calls.map(({ index }) => ({ index, outcome: done }))
    const ended = expectResult(await harness.executeStep({ type: 'results', results: last }), 'completed')
    assert.equal(ended.output, 'one, two done\n')
  }),
  fileCase('an upload replaces a longer file, and a link without following it', async (sandbox) => {
    await sandbox.write('/tmp/in/file', 'x'.repeat(1_000))
    await sandbox.write('/tmp/in/file', 'short')
    assert.equal(String(await sandbox.read('/tmp/in/file')), 'short')
    await sandbox.print('import os\n_ = open("/tmp/kept", "w").write("kept")\nos.symlink("/tmp/kept", "/tmp/in/link")')
    expectResult(await sandbox.write('/tmp/in/link', 'new'), 'completed')
    assert.equal(String(await sandbox.read('/tmp/kept')), 'kept')
    assert.equal(String(await sandbox.read('/tmp/in/link')), 'new')
  }),
  fileCase('an upload that can not be written fails with the reason', async (sandbox) => {
    await sandbox.write('/tmp/in/file', 'x')
    expectFailure(await sandbox.write('/tmp/in', 'x'), 'Is a directory')
    expectFailure(await sandbox.write('/tmp/in/file/x', 'x'), 'Not a directory')
    expectFailure(await sandbox.writeText('/tmp/in/bad', 'é'.repeat(10)), 'the content is not Base64')
    assert.equal(await sandbox.print('print(1)'), '1\n')
  }),
  fileCase(
    'an upload that does not fit fails, and the session continues',
    async (sandbox) => {
      const part = randomBytes(partBytes)
      const results = []
      for (let index = 0; index < 9; index += 1)
        results.push(await sandbox.write(`/tmp/in/large${index % 2}`, part, Math.floor(index / 2) * partBytes))
      results.slice(0, 7).forEach((result) => expectResult(result, 'completed'))
      const last = results.at(-1)
      assert.ok(last)
      expectFailure(last, 'No space left on device')
      assert.equal(await sandbox.print('import os\nos.remove("/tmp/in/large0")\nprint(1)'), '1\n')
      expectResult(await sandbox.write('/tmp/in/other', part), 'completed')
    },
    { tmpBytes: 48 << 20 },
  ),
  fileCase(
    'an upload may use all of /tmp, and be kept from there',
    async (sandbox) => {
      const part = Buffer.alloc(partBytes, 'part')
      for (let index = 0; index < 12; index += 1)
        expectResult(await sandbox.write('/tmp/in/large', part, index * partBytes), 'completed')
      const files = await sandbox.filesAfter('os.rename("/tmp/in/large", "/tmp/out/large")')
      assert.deepEqual(
        files.map(({ bytes, problem }) => ({ bytes, problem })),
        [{ bytes: 12 * partBytes, problem: undefined }],
      )
      assert.deepEqual(await sandbox.read('/tmp/out/large', 11 * partBytes), part)
    },
    { tmpBytes: 12 * partBytes },
  ),
  fileCase('a cell reports files that are new or have another content, once', async (sandbox) => {
    const write = (text: string) => `_ = open("/tmp/out/a/one.txt", "w").write("${text}")`
    const reported = [{ path: '/tmp/out/a/one.txt', bytes: 3, sha256: sha256('one') }]
    assert.deepEqual(await sandbox.filesAfter(`os.makedirs("/tmp/out/a")\n${write('one')}`), reported)
    assert.deepEqual(await sandbox.filesAfter(''), [])
    assert.deepEqual(await sandbox.filesAfter(write('one')), [])
    assert.deepEqual(await sandbox.filesAfter(write('two')), [{ ...reported[0], sha256: sha256('two') }])
    const keepTime = 'os.utime("/tmp/out/a/one.txt", ns=(t.st_atime_ns, t.st_mtime_ns))'
    const change = `t = os.stat("/tmp/out/a/one.txt")\n${write('six')}\n${keepTime}`
    assert.deepEqual(await sandbox.filesAfter(change), [{ ...reported[0], sha256: sha256('six') }])
  }),
  fileCase('a failed cell reports its files', async (sandbox, harness) => {
    await sandbox.filesAfter('')
    const { finalResult } = await harness.runCell('open("/tmp/out/before", "w").write("x")\n1 / 0')
    assert.deepEqual(
      expectResult(finalResult, 'failed').files?.map(({ path }) => path),
      ['/tmp/out/before'],
    )
  }),
  fileCase('a link, and a file that can not be read, are reported with the reason', async (sandbox) => {
    const link = await sandbox.filesAfter('os.symlink("/etc/passwd", "/tmp/out/x")')
    assert.deepEqual(
      link.map(({ path, sha256: digest, problem }) => ({ path, digest, problem })),
      [{ path: '/tmp/out/x', digest: undefined, problem: 'it is a link' }],
    )
    await sandbox.filesAfter('os.remove("/tmp/out/x")')
    const unreadable = await sandbox.filesAfter('open("/tmp/out/y", "w").close()\nos.chmod("/tmp/out/y", 0)')
    assert.deepEqual(unreadable, [{ path: '/tmp/out/y', bytes: 0, problem: 'Permission denied' }])
  }),
  fileCase('a name that is not UTF-8 is reported with escapes', async (sandbox) => {
    const [file, ...others] = await sandbox.filesAfter('open(b"/tmp/out/\\xff", "w").close()')
    assert.equal(others.length, 0)
    assert.match(file?.path ?? '', /^\/tmp\/out\/(\\x[0-9a-f]{2})+$/)
    assert.equal(file?.problem, 'its name is not UTF-8')
  }),
  fileCase('a folder that is a link has no artifacts', async (sandbox) => {
    await sandbox.write('/tmp/in/file', 'x')
    assert.deepEqual(await sandbox.filesAfter('os.rmdir("/tmp/out")\nos.symlink("/tmp/in", "/tmp/out")'), [])
  }),
  fileCase('of 250 files, 99 are reported with each cell, and the number of the others', async (sandbox) => {
    const first = await sandbox.filesAfter('for n in range(250): open(f"/tmp/out/{n:03}", "w").close()')
    assert.equal(first.length, 100)
    const note = (count: number) => ({
      path: '/tmp/out',
      bytes: 0,
      problem: `${count} more files: too many for one cell`,
    })
    assert.deepEqual(first.at(-1), note(151))
    assert.deepEqual((await sandbox.filesAfter('')).at(-1), note(52))
    assert.equal((await sandbox.filesAfter('')).length, 52)
  }),
  fileCase('a file is read in parts, in pieces of frames', async (sandbox) => {
    const content = randomBytes(partBytes + 12_345)
    await sandbox.write('/tmp/in/random', content.subarray(0, partBytes))
    await sandbox.write('/tmp/in/random', content.subarray(partBytes), partBytes)
    const parts = []
    for (const offset of [0, partBytes, content.length]) {
      const part = await sandbox.read('/tmp/in/random', offset)
      assert.ok(Buffer.isBuffer(part), String(part))
      parts.push(part)
    }
    assert.deepEqual(
      parts.map(({ length }) => length),
      [partBytes, 12_345, 0],
    )
    assert.ok(Buffer.concat(parts).equals(content))
  }),
  fileCase('a file that is gone, and a folder, are not read', async (sandbox) => {
    assert.equal(await sandbox.read('/tmp/out/none'), 'No such file or directory')
    assert.equal(await sandbox.read('/tmp'), 'it is not an ordinary file')
  }),
  fileCase('code that replaces functions of the library does not end the session', async (sandbox, harness) => {
    const replaced = await harness.runCell(
      'import os\nos.makedirs("/tmp/out", exist_ok=True)\nlstat, walk = os.lstat, os.walk\ndef refuse(*_, **__): raise ValueError("no")\nos.lstat = os.walk = refuse',
    )
    expectResult(replaced.finalResult, 'completed')
    await sandbox.print('import os\nos.lstat, os.walk = lstat, walk')
    assert.equal(await sandbox.print('print(await get(a=1))'), "{'a': 1}\n")
  }),
]
