import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { splitText } from '../../../src/common/text/text-ranges.js'
import { fileStream } from '../../../src/stream/index.js'
import type { CellNode } from '../../../src/client/run-tree/index.js'
import { openStore } from '../../../src/values/open-store.js'
import { Values } from '../../../src/values/values.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, turn } from '../../support/script.js'
import { readEvents } from '../../support/stream/shown-text.js'
import { Deferred, tool } from '../../support/tools.js'

const streamsOf = ({ output, stderr = [] }: Partial<Pick<CellNode, 'output' | 'stderr'>>) => {
  const { inside, outside } = splitText(output ?? '', stderr)
  return { stdout: outside, stderr: inside }
}

async function cellsOf(env: TestEnvironment, workflowId: string): Promise<readonly CellNode[]> {
  const { turns } = await env.ptc.handle(workflowId).tree()
  return turns.flatMap(({ cells }) => cells)
}

describe('what a cell reports, in an embedded sandbox', () => {
  it('an execution returns the streams, the exit code, the duration and the use of its code', async () => {
    const wait = tool('wait', ({ ms }) => new Promise((resolve) => setTimeout(() => resolve(null), Number(ms))))
    const session = await TestSession.start({ tools: [wait] })
    const source =
      'import sys\nprint("out")\nawait wait(ms=300)\nprint("x" * 10_000, file=sys.stderr)\nprint("end")\nsys.exit(3)'
    const { outcome } = await session.execute(source)
    expect(outcome).toMatchObject({ status: 'code_error', error: 'SystemExit: 3', exitCode: 3 })
    expect(streamsOf(outcome)).toEqual({ stdout: 'out\nend\n', stderr: `${'x'.repeat(10_000)}\n` })
    const { durationMs = 0, usage } = outcome
    expect(durationMs).toBeGreaterThanOrEqual(300)
    expect(usage?.runMs).toBeLessThan(durationMs)
    expect(await session.execute('print(1)')).toMatchObject({ outcome: { status: 'ok', output: '1\n' } })
    await session.close()
  })

  it('people get a megabyte of output with its streams, and a model gets its head and tail', async () => {
    const env = await TestEnvironment.start({
      script: [
        turn(code('import sys\nprint("é" * 600_000)\nprint("e" * 300_000, file=sys.stderr)\nprint("end")')),
        answerResult,
      ],
    })
    const handle = await env.startAgent()
    const { answer } = await env.agentResult(handle)
    expect(answer.length).toBeLessThan(20_500)
    expect(answer).toMatch(/^é+\n\[\.\.\. 88\d{4} characters cut \.\.\.\]\ne+\nend\n/)
    const store = await openStore({ kind: 'local', directory: env.valuesDirectory })
    const values = new Values({ store, retryForMs: 0 })
    const { turns } = await env.ptc.handle(handle.workflowId).tree({ values })
    const [cell] = turns.flatMap(({ cells }) => cells)
    expect(cell && streamsOf(cell)).toEqual({
      stdout: `${'é'.repeat(600_000)}\nend\n`,
      stderr: `${'e'.repeat(300_000)}\n`,
    })
    expect(await env.historyBytes()).toBeLessThan(100_000)
  })
})

describeDocker('what a cell reports, in a container', () => {
  it('the tree, the stream and the audit log have the streams, the exit code and the use of a cell', async () => {
    const [stream, file] = [
      fileStream({ folder: await temporaryFolder() }),
      join(await temporaryFolder(), 'audit.jsonl'),
    ]
    const source =
      'import os, sys\nprint("out")\nos.system("echo error >&2")\ndata = bytearray(60_000_000)\nsys.exit(3)'
    const env = await TestEnvironment.start({
      backend: 'docker',
      stream,
      audit: { file },
      script: [turn(code(source)), answerResult],
    })
    const handle = await env.startAgent()
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'out\nerror\nSystemExit: 3' })
    const [cell] = await cellsOf(env, handle.workflowId)
    const usage = { runMs: expect.any(Number) as number, cpuMs: expect.any(Number) as number }
    expect(cell).toMatchObject({ status: 'code_error', exitCode: 3, usage })
    expect(cell?.usage?.peakMemoryBytes).toBeGreaterThan(60_000_000)
    expect(cell && streamsOf(cell)).toEqual({ stdout: 'out\n', stderr: 'error\n' })
    const events = await readEvents(env.ptc.handle(handle.workflowId).stream())
    expect(events).toContainEqual(expect.objectContaining({ type: 'output.delta', stderr: [[4, 10]] }))
    const reported = { type: 'cell.failed', exitCode: 3, usage: cell?.usage }
    expect(events).toContainEqual(expect.objectContaining(reported))
    const audited = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(audited.map((line) => JSON.parse(line) as unknown)).toContainEqual(expect.objectContaining(reported))
    await env.expectCleanEnd(handle)
  })

  it('a rebuild keeps the numbers of cells that have ended, and its differing numbers do not diverge', async () => {
    const [called, released] = [new Deferred(), new Deferred<number>()]
    const slow = tool('slow', () => {
      called.resolve()
      return released.promise
    })
    const busy = 'import sys, time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\nx = 1'
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [slow],
      script: [
        turn(code(`${busy}\nprint("first", file=sys.stderr)`)),
        turn(code('x += await slow()\nprint(x)')),
        answerResult,
      ],
    })
    const handle = await env.startAgent()
    await called.promise
    const [before] = await cellsOf(env, handle.workflowId)
    expect(before?.usage?.cpuMs).toBeGreaterThanOrEqual(250)
    await killContainersOf(handle.workflowId)
    released.resolve(2)
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '3' })
    const [first, second] = await cellsOf(env, handle.workflowId)
    expect(first?.usage).toEqual(before?.usage)
    expect(first && streamsOf(first)).toEqual({ stdout: '', stderr: 'first\n' })
    expect(second?.rebuilds).toBe(1)
    // The repetition of the first cell does not count for the second.
    expect(second?.usage?.cpuMs).toBeLessThan(250)
    await env.expectCleanEnd(handle)
  })
})
