import { randomUUID } from 'node:crypto'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'

const stepOptions = () => ({ attempt: 1, signal: AbortSignal.timeout(600_000) })

/** Takes a snapshot after the last cell; returns its text, or the reason why there is none. */
export async function snapshotOf(harness: SessionHarness, limits = { bytes: 32 * 1024 * 1024, seconds: 60 }) {
  const request = { limits: harness.limits, ...limits }
  const taken = await harness.host.snapshot(harness.session, harness.step, request, stepOptions())
  return taken.type === 'snapshot' ? { text: taken.pieces.join('') } : { reason: taken.reason }
}

/** Restores the snapshot in a new sandbox. */
export async function restoredFrom(
  text: string,
  harness: SessionHarness,
  backend: SandboxBackend,
): Promise<SessionHarness> {
  const fresh = await new SessionHarness(backend, harness.limits, { ...harness.session, epoch: 2 }).open()
  const reference = fresh.storeValue(text)['ptc.value']
  const input = { type: 'restore', snapshot: reference } as const
  const options = { ...stepOptions(), onOutput: () => undefined, readValue: fresh.readValue }
  const step = { number: harness.step, now: harness.now, input }
  const result = await fresh.host.executeStep(fresh.session, step, { limits: fresh.limits }, options)
  if (result.type !== 'restored' || result.problem !== null) {
    await fresh.close()
    throw new Error(`not restored: ${JSON.stringify(result)}`)
  }
  Object.assign(fresh, { step: harness.step, cell: harness.cell })
  fresh.addComputeTime(harness.now)
  return fresh
}

/** The output of code in the sandbox that ran the cells, and in one that was restored from its snapshot. */
export async function runInBoth(
  backend: SandboxBackend,
  cells: readonly string[],
  check: string,
): Promise<[string, string]> {
  const original = await runCells(backend, cells)
  try {
    const { text, reason } = await snapshotOf(original)
    if (text === undefined) throw new Error(`no snapshot: ${reason}`)
    const restored = await restoredFrom(text, original, backend)
    try {
      return [await outputIn(original, check), await outputIn(restored, check)]
    } finally {
      await restored.close()
    }
  } finally {
    await original.close()
  }
}

export async function runCells(backend: SandboxBackend, cells: readonly string[]): Promise<SessionHarness> {
  const harness = await new SessionHarness(
    backend,
    {},
    { id: `snapshot-${randomUUID()}`, epoch: 1, startedAt: Date.now(), backend: backend.name },
  ).open()
  for (const cell of cells) {
    const { finalResult, output } = await harness.runCell(cell)
    if (finalResult.type !== 'completed') {
      await harness.close()
      throw new Error(`a cell failed: ${JSON.stringify(finalResult)} ${output}`)
    }
  }
  return harness
}

async function outputIn(harness: SessionHarness, source: string): Promise<string> {
  const { finalResult, output } = await harness.runCell(source)
  return finalResult.type === 'failed' ? `${output}${finalResult.error}` : output
}
