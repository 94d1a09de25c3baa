import { expect, onTestFinished, test, vi } from 'vitest'
import { recordedEvents, type RecordedName, treeOf, countUpTo } from '../../../../test/fixtures/run-tree/recorded.js'
import { scriptedModelName } from '../../../common/names.js'
import type { HistoryEvent, RunTree } from '../../../client/run-tree/index.js'
import type { UnservedQueue } from '../../../client/workers/unserved.js'
import { ProgressWriter } from './progress-writer.js'
import { renderProgress } from './render-progress.js'
import { renderTree } from '../tree/render-tree.js'

/**
 * A terminal with the operations that redrawing needs: text, line breaks, cursor up, erase below. It throws for others.
 */
class Screen {
  readonly isTTY: boolean
  readonly columns = 60
  readonly #lines: string[] = ['']
  #row = 0
  written = ''

  constructor(isTTY: boolean) {
    this.isTTY = isTTY
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  write(text: string): void {
    this.written += text
    // oxlint-disable-next-line no-control-regex -- terminals are driven by control characters
    for (const [piece] of text.matchAll(/\x1b\[(\d+)A|\r|\x1b\[J|\n|[^\x1b\r\n]+|\x1b/g)) {
      if (piece === '\n') this.#lines[++this.#row] ??= ''
      else if (piece === '\x1b[J') this.#lines.splice(this.#row, Infinity, '')
      else if (piece === '\r') continue
      else if (piece === '\x1b') throw new Error(`unsupported escape sequence: ${JSON.stringify(text)}`)
      else if (piece.startsWith('\x1b')) this.#row -= Number.parseInt(piece.slice(2), 10)
      else this.#lines[this.#row] += piece
    }
  }
}

async function follow(name: RecordedName, isTTY: boolean, after?: (screen: Screen) => void): Promise<Screen> {
  const screen = new Screen(isTTY)
  const writer = new ProgressWriter({ stream: screen, color: false })
  onTestFinished(() => writer.close())
  const events = recordedEvents(name)
  for (const index of events.keys()) {
    writer.update(await treeOf(events.slice(0, index + 1)))
    after?.(screen)
  }
  writer.close()
  writer.close()
  return screen
}

const count = (text: string, what: string): number => text.split(what).length - 1

test.each([true, false])('prints each milestone once, in order (terminal: %s)', async (isTTY) => {
  const { text } = await follow('answered', isTTY)
  for (const once of [
    'I will add them up.',
    'import asyncio',
    'caught: there is no city 5',
    'NameError',
    'get_city(number=2)',
  ]) {
    expect(count(text, once), once).toBe(1)
  }
  expect(text.indexOf('import asyncio')).toBeLessThan(text.indexOf('16152236'))
  // The command prints the answer, not the progress.
  expect(text).not.toContain('That is the sum')
})

test('progress redraws the live lines in place on a terminal, and removes them at the end', async () => {
  let maxLiveLines = 0
  const seen = new Set<string>()
  const screen = await follow('answered', true, ({ text }) => {
    maxLiveLines = Math.max(maxLiveLines, count(text, '▸'))
    for (const [line] of text.matchAll(/(?:▸ .*?(?= {2})|calls \d+\/\d+ done)/g)) seen.add(line)
  })
  expect(maxLiveLines).toBe(1)
  expect([...seen]).toEqual(
    expect.arrayContaining([
      '▸ waiting for the model (turn 1)',
      '▸ opening a sandbox',
      '▸ cell 1 runs',
      '▸ waiting for tools',
      'calls 0/4 done',
      'calls 3/4 done',
    ]),
  )
  expect(screen.text).not.toMatch(/▸|done/)
})

test("progress shows the end of the model's live text below the live lines, and removes it", async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const screen = new Screen(true)
  const writer = new ProgressWriter({ stream: screen, color: false })
  onTestFinished(() => writer.close())
  writer.update(await treeOf(recordedEvents('answered').slice(0, 12)))
  const redraw = () => vi.advanceTimersByTime(250)
  writer.setLiveText({ type: 'text', text: 'I will \x1b[31mlook' })
  redraw()
  expect(screen.text).toMatch(/▸ .*\n│ I will ␛\[31mlook\n$/)
  writer.setLiveText({ type: 'code', text: Array.from({ length: 30 }, (_, line) => `line_${line}`).join('\n') })
  redraw()
  expect(screen.text).toContain('│ … 22 more lines\n│ line_22\n')
  expect(screen.text).not.toContain('look')
  writer.setLiveText(undefined)
  redraw()
  expect(screen.text).not.toContain('│')
  writer.setLiveText({ type: 'text', text: 'more' })
  redraw()
  writer.close()
  expect(screen.text).not.toContain('more')
})

test('progress redraws nothing without a terminal, and prints transient milestones', async () => {
  const { written } = await follow('rebuilt', false)
  // oxlint-disable-next-line no-control-regex -- the test looks for control characters
  expect(written).not.toMatch(/[\x1b\r▸]/)
  expect(count(written, 'turn 1: asking the model')).toBe(1)
  expect(count(written, 'sandbox: docker container')).toBe(1)
  expect(count(written, 'the sandbox was lost')).toBe(1)
})

test.each([
  ['answered', 1],
  ['program', 0],
] as const)('progress says that the model is scripted, except for a program: %s', async (name, times) => {
  const screen = new Screen(false)
  const writer = new ProgressWriter({ stream: screen, color: false })
  writer.update({ ...(await treeOf(recordedEvents(name))), model: scriptedModelName })
  writer.close()
  expect(count(screen.written, 'a scripted model replies')).toBe(times)
})

test('progress prints other lines above the live lines', async () => {
  const screen = new Screen(true)
  const writer = new ProgressWriter({ stream: screen, color: false })
  onTestFinished(() => writer.close())
  writer.update(await treeOf(recordedEvents('answered').slice(0, 5)))
  writer.print('worker: a warning')
  expect(screen.text).toMatch(/^worker: a warning\n▸ [^\n]+\n$/)
})

test('live lines name the open calls and leave one column free', async () => {
  const events = recordedEvents('answered')
  const isThird = (event: HistoryEvent) =>
    event.activityTaskScheduledEventAttributes?.activityId === 'turn-1.cell-1.call-3'
  const tree = await treeOf(events.slice(0, countUpTo(events, isThird)))
  const now = tree.startedAt + 2_500
  expect(renderProgress(tree, { width: 80, color: false, now })).toBe(
    '▸ waiting for tools  2.5s\n  calls 0/4 done · get_city × 4',
  )
  const narrow = renderProgress(tree, { width: 30, color: false, now }).split('\n')
  expect(narrow[1]).toBe('  calls 0/4 done · get_city …')
})

test('progress prints a note about a blocked event loop once per turn, and shows it with each call', async () => {
  const tree = await treeOf(recordedEvents('answered'))
  const note = (seconds: number) => `tool get_city has blocked the event loop of the worker for ${seconds}.0 s`
  const [first, ...later] = tree.turns
  const [cell, ...cells] = first?.cells ?? []
  if (!first || !cell) throw new Error('the recorded run has a cell')
  const blockedFor = (seconds: number): RunTree => {
    const calls = cell.calls.map((call, index) => (index < 2 ? { ...call, blocked: note(seconds) } : call))
    return { ...tree, turns: [{ ...first, cells: [{ ...cell, calls }, ...cells] }, ...later] }
  }
  const screen = new Screen(false)
  const writer = new ProgressWriter({ stream: screen, color: false })
  for (const seconds of [2, 3, 4]) writer.update(blockedFor(seconds))
  writer.close()
  expect(count(screen.text.replaceAll(/\s+/g, ' '), 'has blocked the event loop')).toBe(1)
  const drawn = renderTree(blockedFor(3), { width: 120, color: false, full: false })
  expect(count(drawn, note(3))).toBe(2)
})

test.each(['everything', 'live'] as const)(
  'live lines show a queue without a worker (content: %s)',
  async (content) => {
    const screen = new Screen(true)
    const writer = new ProgressWriter({ stream: screen, color: false, content })
    onTestFinished(() => writer.close())
    const tree = await treeOf(recordedEvents('answered').slice(0, 5))
    writer.update({ ...tree, unserved: [unservedQueue()] })
    const live = screen.text.replaceAll(/\s+/g, ' ')
    expect(live).toMatch(/^▸ \S.* no worker takes tasks from q\.model: waiting for 12\.\ds, last poll 48\.\ds ago;/)
    expect(live).toContain('`ptc worker --roles model` starts one')
    for (const line of screen.text.split('\n')) expect(line.length).toBeLessThan(60)
    writer.update(tree)
    expect(screen.text).not.toContain('no worker')
  },
)

test('prints a queue without a worker once when there is no terminal', async () => {
  const tree = await treeOf(recordedEvents('answered'))
  const screen = new Screen(false)
  const writer = new ProgressWriter({ stream: screen, color: false, content: 'live' })
  const unserved = [unservedQueue()]
  for (let times = 0; times < 2; times += 1) writer.update({ ...tree, unserved })
  writer.close()
  expect(screen.text).toMatch(/^no worker takes tasks from q\.model/)
  expect(count(screen.text, 'no worker')).toBe(1)
})

/** A model queue on which a task has waited for 12 s, last polled 48 s ago. */
function unservedQueue(): UnservedQueue {
  const now = Date.now()
  return { taskQueue: 'q.model', role: 'model', waitingSince: now - 12_000, lastPolledAt: now - 48_000 }
}
