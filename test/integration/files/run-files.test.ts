import { readFile, writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { backends } from '../../support/environment/backends.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, turn } from '../../support/script.js'
import { findProcesses, killIfRunning } from '../../support/sandbox/wasm-sandbox.js'
import { Deferred, tool } from '../../support/tools.js'

/** In the command line of an interpreter, which no other test has. */
const tmpBytes = (40 << 20) + process.pid

async function killInterpretersWith(bytes: number): Promise<void> {
  const found = await findProcesses(`"tmpBytes":${bytes},`)
  expect(found).not.toEqual([])
  // One ends with the other.
  for (const id of found) killIfRunning(id, 'SIGABRT')
}

const sumAndDraw = `
import csv, os, struct, zlib
total = sum(int(row["n"]) for row in csv.DictReader(open("/tmp/in/table.csv")))
row = b"\\0" + b"\\xff\\0\\0" * 4
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
os.makedirs("/tmp/out", exist_ok=True)
with open("/tmp/out/chart.png", "wb") as file:
    file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 3, 8, 2, 0, 0, 0)))
    file.write(chunk(b"IDAT", zlib.compress(row * 3)) + chunk(b"IEND", b""))
with open("/tmp/out/total.csv", "w") as file:
    file.write(f"total\\n{total}\\n")
print(total)`

describe.each(backends)('the files of a run in %s', (backend) => {
  it('code reads an upload, the model sees an image that code leaves, and the client downloads the artifacts', async () => {
    const env = await TestEnvironment.start({
      backend,
      tools: [],
      script: [turn(code(sumAndDraw)), turn(code('print(open("/tmp/out/total.csv").read())')), answerResult],
    })
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'table.csv'), 'n\n1\n2\n39\n')
    const run = await env.ptc.startAgent({ question: 'Add it up.', files: [{ file: join(folder, 'table.csv') }] })
    expect(await run.result()).toMatchObject({ status: 'answered', answer: 'total\n42' })
    const [first, second] = env.api.requests.map(({ body }) => body as { messages: readonly { content: unknown }[] })
    expect(JSON.stringify(first)).toContain('/tmp/in/table.csv (text/csv, 9 B)')
    expect(second?.messages[2]?.content).toMatchObject([
      {
        type: 'tool_result',
        content: [
          '42',
          '[files] 2 files kept from /tmp/out:',
          '/tmp/out/chart.png (image/png, 73 B, 4 x 3 pixels)',
          '/tmp/out/total.csv (text/csv, 9 B)',
          '  total',
          '  42',
        ].join('\n'),
      },
      { type: 'text', text: '[files] /tmp/out/chart.png:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png' } },
    ])
    expect((await run.files.list()).map(({ path }) => path)).toEqual([
      '/tmp/in/table.csv',
      '/tmp/out/chart.png',
      '/tmp/out/total.csv',
    ])
    expect((await buffer(run.files.read('/tmp/out/total.csv'))).toString()).toBe('total\n42\n')
    await run.files.download('/tmp/out/chart.png', join(folder, 'chart.png'))
    expect((await readFile(join(folder, 'chart.png'))).subarray(1, 4).toString()).toBe('PNG')
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('a run without files keeps none', async () => {
    const source = 'import os\nos.makedirs("/tmp/out", exist_ok=True)\nprint(open("/tmp/out/a", "w").write("a"))'
    const env = await TestEnvironment.start({ backend, tools: [], script: [turn(code(source)), answerResult] })
    const run = await env.ptc.startAgent({ question: 'Write it.' })
    expect(await run.result()).toMatchObject({ status: 'answered', answer: '1' })
    expect(await run.files.list()).toEqual([])
  })

  it('uploads of a running run, and artifacts, are there again when the sandbox dies', async () => {
    const [called, released] = [new Deferred(), new Deferred<number>()]
    const slow = tool('slow', async () => {
      called.resolve()
      return released.promise
    })
    const env = await TestEnvironment.start({
      backend,
      tools: [slow],
      script: [
        turn(
          code(
            'import os\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/a.txt", "w").write("a")\nawait slow()',
          ),
        ),
        turn(code('await slow()\nprint(open("/tmp/in/later.txt").read(), open("/tmp/out/a.txt").read())')),
        answerResult,
      ],
    })
    const files = [{ data: 'early', path: 'early.txt' }]
    const run = await env.ptc.startAgent({ question: 'Wait.', files, limits: { tmpBytes } })
    await called.promise
    await run.files.upload([{ data: 'later', path: 'later.txt' }])
    if (backend === 'docker') await killContainersOf(run.workflowId)
    else await killInterpretersWith(tmpBytes)
    released.resolve(1)
    expect(await run.result()).toMatchObject({ status: 'answered', answer: 'later a' })
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })
})
