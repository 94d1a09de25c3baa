import assert from 'node:assert/strict'
import type { RequestedCall, StepInput } from '../../../common/session/steps.js'
import type { ConformanceContext } from '../conformance-context.js'
import type { Snapshot } from '../../session/snapshot-receiver.js'
import { expectResult } from '../expectations.js'
import type { SessionHarness } from '../session-harness.js'
import { type Behavior, type Behaviors, inSession } from './behavior.js'

const fresh = { isFresh: true } as const

const resultOf = (index: number, value: string | number): StepInput => ({
  type: 'results',
  results: [{ index, outcome: { status: 'ok', value } }],
})

/** Steps of workers that died, or that were assumed dead. */
export const stepBehaviors = {
  'a repeated step returns its first result, and runs once': inSession(async (harness, [source = '', show = '']) => {
    const first = await harness.startCell(source)
    assert.deepEqual(await harness.sendStep(harness.step, { type: 'cell', cell: harness.cell, source }, 2), first)
    assert.equal((await harness.runCell(show)).output, '1\n')
  }, fresh),
  'a step that is repeated later returns its first result, and the time of its execution': inSession(
    async (harness, [source = '']) => {
      harness.now = 1_000
      const first = await harness.startCell(source)
      harness.now = 61_000
      const again = await harness.sendStep(harness.step, { type: 'cell', cell: harness.cell, source }, 2)
      assert.deepEqual(again, { ...first, executedAt: { now: 1_000, waited: 1_000 } })
    },
    fresh,
  ),
  'steps without a recorded result are answered again, in order, and the program continues': inSession(
    async (harness, [source = '']) => {
      harness.recorded = 0
      const inputs: readonly StepInput[] = [{ type: 'cell', cell: 1, source }, resultOf(1, 1), resultOf(2, 2)]
      const first = []
      for (const input of inputs) first.push(await harness.executeStep(input))
      for (const [index, input] of inputs.entries())
        assert.deepEqual(await harness.sendStep(index + 1, input, 0), first[index])
      harness.recorded = 3
      assert.equal(expectResult(await harness.executeStep(resultOf(3, 3)), 'completed').output, '3\n')
      await assert.rejects(harness.sendStep(2, resultOf(1, 1)), { code: 'SANDBOX_FENCED' })
    },
    fresh,
  ),
  'a step with other content than the one that ran is refused': inSession(
    async (harness, [source = '', other = '']) => {
      harness.recorded = 0
      await harness.executeStep({ type: 'cell', cell: 1, source })
      await harness.executeStep(resultOf(1, 'one'))
      await assert.rejects(harness.sendStep(2, resultOf(1, 'other'), 2), { code: 'SANDBOX_FENCED' })
      await assert.rejects(harness.sendStep(1, { type: 'cell', cell: 1, source: other }, 2), {
        code: 'SANDBOX_FENCED',
      })
    },
    fresh,
  ),
  'a stale worker runs nothing, and gets the result of a step that ran': inSession(
    async (harness, [mine = '', theirs = '']) => {
      harness.cell += 1
      harness.step += 1
      const cell = { type: 'cell' as const, cell: harness.cell, source: mine }
      const executed = await harness.sendStep(harness.step, cell, 3)
      assert.deepEqual(await harness.sendStep(harness.step, cell, 2), executed)
      const other = { ...cell, source: theirs }
      await assert.rejects(harness.sendStep(harness.step, other, 2), { code: 'SANDBOX_FENCED' })
    },
  ),
} satisfies Behaviors

/** The cells run in a new session and in its rebuilt sandbox. Both must be equal; the calls and lines are as expected. */
export function repeats(isExpected: (first: Transcript) => void): Behavior {
  return {
    async check(context, cells) {
      const first = await context.newHarness()
      const second = await context.newHarness({}, { ...first.session, epoch: first.session.epoch + 1 })
      const transcript = await transcriptOf(first, cells)
      assert.deepEqual(await transcriptOf(second, cells), transcript)
      isExpected(transcript)
    },
  }
}

interface Transcript {
  readonly lines: readonly string[]
  readonly calls: readonly RequestedCall[]
}

async function transcriptOf(harness: SessionHarness, cells: readonly string[]): Promise<Transcript> {
  let printed = ''
  const calls: RequestedCall[] = []
  for (const source of cells) {
    const run = await harness.runCell(source)
    expectResult(run.finalResult, 'completed')
    printed += run.output
    calls.push(...run.calls)
    harness.now += 5_000
  }
  return { lines: printed.trimEnd().split('\n'), calls }
}

/** A program that is repeated in a new sandbox does the same. */
export const rebuildBehaviors = {
  'a rebuilt program reads the same clocks, which follow the steps': repeats(({ lines, calls }) => {
    assert.equal(calls.length, 1)
    assert.equal(new Set(lines).size, 2, 'time continues')
  }),
  'a rebuilt program gets the same random values of every source': repeats(({ lines }) =>
    assert.equal(new Set(lines).size, lines.length, 'no value comes twice'),
  ),
  'another session gets other random values': {
    async check(context, [source = '']) {
      const [one, other] = [await context.newHarness(), await context.newHarness()]
      assert.notEqual((await one.runCell(source)).output, (await other.runCell(source)).output)
    },
  },
  'a rebuilt program makes its calls in the same order, also those of parallel work with timers': repeats(({ calls }) =>
    assert.deepEqual(
      calls.map(({ arguments: { a } }) => a),
      [...Array.from({ length: 200 }, (_, index) => index), 'quick', 'slow'],
    ),
  ),
  'a rebuilt program catches the same errors of calls, in the same order': {
    async check(context, [source = '']) {
      const first = await context.newHarness()
      const second = await context.newHarness({}, { ...first.session, epoch: first.session.epoch + 1 })
      const outputs = []
      for (const harness of [first, second]) outputs.push(await outputWithFailures(harness, source))
      assert.equal(outputs[0], 'bad: no\ngood\n')
      assert.equal(outputs[1], outputs[0])
    },
  },
  'a snapshot restores variables in a new sandbox, without repeated steps': {
    // A process without isolation may have inherited open files, which no snapshot can have.
    requires: 'providesIsolation',
    async check(context, [source = '', show = '']) {
      const harness = await context.newHarness()
      const { output } = await harness.runCell(source)
      const snapshot = await takeSnapshot(harness)
      assert.equal(snapshot.type, 'snapshot', JSON.stringify(snapshot))
      if (snapshot.type !== 'snapshot') return
      const restored = await context.newHarness({}, { ...harness.session, epoch: harness.session.epoch + 1 })
      const value = restored.storeValue(snapshot.pieces.join(''))['ptc.value']
      const step = { number: harness.step, now: harness.now, input: { type: 'restore', snapshot: value } } as const
      const options = { ...snapshotOptions(), onOutput: () => undefined, readValue: restored.readValue }
      const result = await restored.host.executeStep(restored.session, step, restored.sessionSpec, options)
      assert.deepEqual(result, { type: 'restored', problem: null })
      ;[restored.step, restored.cell] = [harness.step, harness.cell]
      assert.equal((await restored.runCell(show)).output, output)
    },
  },
} satisfies Behaviors

const snapshotOptions = () => ({ attempt: 1, signal: AbortSignal.timeout(150_000) })

/** Asks for the state of the session after its last step. */
export function takeSnapshot({ host, session, step, limits }: SessionHarness): Promise<Snapshot> {
  return host.snapshot(session, step, { limits, bytes: 1_000_000, seconds: 60 }, snapshotOptions())
}

/** Delivers the failure of call `bad` one step before the result of call `good`. */
async function outputWithFailures(harness: SessionHarness, source: string): Promise<string> {
  const { calls } = expectResult(await harness.startCell(source), 'suspended')
  const index = (a: string) => calls.find(({ arguments: args }) => args['a'] === a)?.index ?? 0
  const failed = { index: index('bad'), outcome: { status: 'denied' as const, message: 'no' } }
  const next = expectResult(await harness.executeStep({ type: 'results', results: [failed] }), 'suspended')
  return next.output + expectResult(await harness.executeStep(resultOf(index('good'), 'good')), 'completed').output
}

const restricted = { restricted: true } as const

/** Cells of another run that has fewer tools, in the session of its parent. */
export const restrictedCellBehaviors = {
  'a cell of another agent ends its timers and its calls, and leaves those of the session': {
    async check(context: ConformanceContext, [own = '', other = '', last = '']: readonly string[]) {
      const harness = await context.newHarness()
      await harness.runCell(own)
      const cell = await harness.runCell(other, undefined, restricted)
      assert.match(expectResult(cell.finalResult, 'completed').output, /its own/)
      const later = await harness.runCell(last)
      expectResult(later.finalResult, 'completed')
      assert.deepEqual(
        later.calls.map((call) => call.arguments['a']),
        ['own'],
      )
      assert.match(later.output, /^own\n/m)
    },
  },
} satisfies Behaviors
