import assert from 'node:assert/strict'
import { expectResult } from '../expectations.js'
import { SessionHarness } from '../session-harness.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Never aborts, because the backend itself has deadlines. */
const neverAborted = new AbortController().signal

const token = 'import uuid\ntoken = uuid.uuid4().hex\nprint(token)'

/** The life cycle of sandboxes: open, attach, detach, kill, checkpoint, remove. */
export const lifecycleCases: readonly CaseDefinition[] = [
  {
    name: 'check: reports a usable backend and its version',
    async run({ backend }) {
      const { usable, summary, problems } = await backend.check()
      assert.equal(usable, true, JSON.stringify(problems))
      assert.match(summary, /^[^\n]+$/)
    },
  },
  {
    name: 'open: is idempotent',
    async run(context) {
      const first = await context.harness()
      const { output } = await first.runCell(token)
      const second = await new SessionHarness(context.backend, {}, first.session).open()
      ;[second.step, second.cell] = [first.step, first.cell]
      assert.equal((await second.runCell('print(token)')).output, output)
      ;[first.step, first.cell] = [second.step, second.cell]
    },
  },
  {
    name: 'open: creates another sandbox for another epoch',
    async run(context) {
      const first = await context.harness()
      await first.runCell('mine = 1')
      const second = await context.newHarness({}, { ...first.session, epoch: 2 })
      assert.equal((await second.runCell('print("mine" in globals())')).output, 'False\n')
      await second.close()
      assert.equal((await first.runCell('print(mine)')).output, '1\n')
    },
  },
  {
    name: 'attach, remove: handle a missing sandbox',
    async run({ backend }) {
      const { sandboxSpec } = new SessionHarness(backend)
      assert.equal(await backend.attach(sandboxSpec, neverAborted), undefined)
      await backend.remove(sandboxSpec)
    },
  },
  {
    name: 'open: creates no sandbox when it is cancelled before its start',
    async run({ backend }) {
      const { sandboxSpec } = new SessionHarness(backend)
      await assert.rejects(backend.open(sandboxSpec, AbortSignal.abort(new Error('cancelled'))), /cancelled/)
      assert.equal(await backend.attach(sandboxSpec, neverAborted), undefined)
    },
  },
  {
    name: 'kill: is idempotent, settles `ended`, and leaves no sandbox to attach to',
    async run({ backend }) {
      const { sandboxSpec } = new SessionHarness(backend)
      const connection = await backend.open(sandboxSpec, neverAborted)
      await connection.kill()
      await connection.kill()
      assert.equal((await connection.ended).reason, 'exited')
      // The stream of a dead sandbox ends.
      for await (const _ of connection.received);
      await assert.rejects(async () => {
        for (let attempt = 0; attempt < 1_000; attempt += 1) await connection.send(new Uint8Array(64 * 1024))
      })
      await connection.detach()
      assert.equal(await backend.attach(sandboxSpec, neverAborted), undefined)
      await backend.remove(sandboxSpec)
    },
  },
  {
    name: 'detach: is idempotent and settles `ended`',
    async run({ backend }) {
      const { sandboxSpec } = new SessionHarness(backend)
      const connection = await backend.open(sandboxSpec, neverAborted)
      await connection.detach()
      await connection.detach()
      assert.equal((await connection.ended).reason, 'disconnected')
      await backend.remove(sandboxSpec)
    },
  },
  {
    name: 'ended: reports a dead sandbox, and its step is lost',
    async run(context) {
      const { finalResult } = await (await context.newHarness()).runCell('import os\nos._exit(7)')
      // `exited` of a backend that knows the exit code of a process.
      assert.match(expectResult(finalResult, 'lost').cause, /^(exited|gone)$/)
    },
  },
  {
    name: 'attach: returns undefined after remove',
    async run(context) {
      const harness = await context.newHarness()
      await harness.close()
      await harness.close()
      assert.equal(expectResult((await harness.runCell('1')).finalResult, 'lost').cause, 'gone')
    },
  },
  {
    name: 'close: is idempotent, and removes sandboxes that can not outlive the process',
    async run(context) {
      const other = context.newBackend()
      await context.closeAfterCase(new SessionHarness(other)).open()
      await other.close()
      await other.close()
    },
  },
  {
    name: 'attach: reattaches from a second backend in the middle of a cell',
    requires: 'supportsReattach',
    async run(context) {
      const previousOwner = context.closeAfterCase(await new SessionHarness(context.newBackend()).open())
      const source = `${token}\nr = await get(1)\nprint(r, token)`
      const begun = expectResult(await previousOwner.startCell(source), 'suspended')
      await previousOwner.host.shutdown()
      const newOwner = context.closeAfterCase(new SessionHarness(context.newBackend(), {}, previousOwner.session))
      assert.deepEqual(await newOwner.sendStep(1, { type: 'cell', cell: 1, source }, 2), begun)
      await finishCell(newOwner, begun)
    },
  },
  {
    name: 'checkpoint: keeps the state of a sandbox for the next worker',
    requires: 'supportsCheckpoint',
    async run(context) {
      const previousOwner = context.closeAfterCase(await new SessionHarness(context.newBackend()).open())
      const begun = expectResult(
        await previousOwner.startCell(`${token}\nr = await get(1)\nprint(r, token)`),
        'suspended',
      )
      assert.equal(await previousOwner.host.park(previousOwner.session, neverAborted), true)
      assert.equal(await previousOwner.host.park(previousOwner.session, neverAborted), true, 'parking is idempotent')
      const newOwner = context.closeAfterCase(new SessionHarness(context.newBackend(), {}, previousOwner.session))
      await finishCell(newOwner, begun)
    },
  },
  {
    name: 'remove: deletes a checkpoint',
    requires: 'supportsCheckpoint',
    async run(context) {
      const harness = await context.newHarness()
      assert.equal(await harness.host.park(harness.session, neverAborted), true)
      await harness.close()
      assert.equal(await context.backend.attach(harness.sandboxSpec, neverAborted), undefined)
      assert.equal(await harness.host.park(harness.session, neverAborted), false)
    },
  },
]

/** Sends the result of the call that the cell waits for, and expects the token of its first step. */
async function finishCell(owner: SessionHarness, firstStep: { readonly output: string }): Promise<void> {
  const results = [{ index: 1, outcome: { status: 'ok' as const, value: 'r' } }]
  const end = expectResult(await owner.sendStep(2, { type: 'results', results }), 'completed')
  assert.equal(end.output, `r ${firstStep.output}`)
  await owner.close()
}
