import { expect, onTestFinished, test } from 'vitest'
import { recordedEvents, type RecordedName, treeOf, upTo } from '../../../test/run-tree/recorded.js'
import type { HistoryEvent, RunTree, UnservedQueue } from '../history/index.js'
import { ProgressWriter } from './progress-writer.js'
import { renderProgress } from './render-progress.js'
import { renderTree } from './render-tree.js'

/** As much of a terminal as redrawing needs: text, line breaks, cursor up, erase below. Anything else is an error. */
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
      else if (piece === '\x1b') throw new Error(`not for this terminal: ${JSON.stringify(text)}`)
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
  for (const place of events.keys()) {
    writer.update(await treeOf(events.slice(0, place + 1)))
    after?.(screen)
  }
  writer.close()
  writer.close()
  return screen
}

const count = (text: string, what: string): number => text.split(what).length - 1

test.each([true, false])('what has happened is printed once, in order (terminal: %s)', async (isTTY) => {
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
  // The answer is for whoever asked to print.
  expect(text).not.toContain('That is the sum')
})

test('on a terminal the live lines are redrawn in place and gone in the end', async () => {
  let most = 0
  const seen = new Set<string>()
  const screen = await follow('answered', true, ({ text }) => {
    most = Math.max(most, count(text, '▸'))
    for (const [line] of text.matchAll(/(?:▸ .*?(?= {2})|calls \d+\/\d+ done)/g)) seen.add(line)
  })
  expect(most).toBe(1)
  expect([...seen]).toEqual(
    expect.arrayContaining([
      '▸ the model answers (turn 1)',
      '▸ opening a sandbox',
      '▸ cell 1 runs',
      '▸ waiting for tools',
      'calls 0/4 done',
      'calls 3/4 done',
    ]),
  )
  expect(screen.text).not.toMatch(/▸|done/)
})

test('where there is no terminal nothing is redrawn, and passing things have their line', async () => {
  const { written } = await follow('rebuilt', false)
  // oxlint-disable-next-line no-control-regex -- what is looked for are control characters
  expect(written).not.toMatch(/[\x1b\r▸]/)
  expect(count(written, 'turn 1: asking the model')).toBe(1)
  expect(count(written, 'sandbox: docker container')).toBe(1)
  expect(count(written, 'the sandbox was lost')).toBe(1)
})

test('a line of somebody else comes above the live lines', async () => {
  const screen = new Screen(true)
  const writer = new ProgressWriter({ stream: screen, color: false })
  onTestFinished(() => writer.close())
  writer.update(await treeOf(recordedEvents('answered').slice(0, 5)))
  writer.print('worker: a warning')
  expect(screen.text).toMatch(/^worker: a warning\n▸ [^\n]+\n$/)
})

test('live lines name the open calls and never fill the terminal', async () => {
  const events = recordedEvents('answered')
  const isThird = (event: HistoryEvent) =>
    event.activityTaskScheduledEventAttributes?.activityId === 'turn-1.cell-1.call-3'
  const tree = await treeOf(events.slice(0, upTo(events, isThird)))
  const now = tree.startedAt + 2_500
  expect(renderProgress(tree, { width: 80, color: false, now })).toBe(
    '▸ waiting for tools  2.5s\n  calls 0/4 done · get_city 1 · get_city 2 · get_city 3 · get_city 4',
  )
  const narrow = renderProgress(tree, { width: 30, color: false, now }).split('\n')
  expect(narrow[1]).toBe('  calls 0/4 done · get_city …')
})

test('what blocks the event loop of a worker is said once a turn, and drawn with the call', async () => {
  const tree = await treeOf(recordedEvents('answered'))
  const note = (seconds: number) => `tool get_city has blocked the event loop of the worker for ${seconds}.0 s`
  const [first, ...later] = tree.turns
  const [cell, ...cells] = first?.cells ?? []
  if (!first || !cell) throw new Error('the recorded run has a cell')
  const blockedFor = (seconds: number): RunTree => {
    const calls = cell.calls.map((call, place) => (place < 2 ? { ...call, blocked: note(seconds) } : call))
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
  'a queue without a worker is told by live lines (shows: %s)',
  async (shows) => {
    const screen = new Screen(true)
    const writer = new ProgressWriter({ stream: screen, color: false, shows })
    onTestFinished(() => writer.close())
    const tree = await treeOf(recordedEvents('answered').slice(0, 5))
    writer.update({ ...tree, unserved: [unservedQueue()] })
    const live = screen.text.replaceAll(/\s+/g, ' ')
    expect(live).toMatch(/^▸ \S.* no worker takes tasks from q\.tools: waiting for 12\.\ds, last poll 48\.\ds ago;/)
    expect(live).toContain('`ptc worker --roles tools` starts one')
    for (const line of screen.text.split('\n')) expect(line.length).toBeLessThan(60)
    writer.update(tree)
    expect(screen.text).not.toContain('no worker')
  },
)

test('where there is no terminal, a queue without a worker has its line, whatever else is shown', async () => {
  const tree = await treeOf(recordedEvents('answered'))
  const screen = new Screen(false)
  const writer = new ProgressWriter({ stream: screen, color: false, shows: 'live' })
  const unserved = [unservedQueue()]
  for (let times = 0; times < 2; times += 1) writer.update({ ...tree, unserved })
  writer.close()
  expect(screen.text).toMatch(/^no worker takes tasks from q\.tools/)
  expect(count(screen.text, 'no worker')).toBe(1)
})

/** A queue for tools on which a task has waited for 12 s, last polled 48 s ago. */
function unservedQueue(): UnservedQueue {
  const now = Date.now()
  return { taskQueue: 'q.tools', role: 'tools', waitingSince: now - 12_000, lastPolledAt: now - 48_000 }
}
