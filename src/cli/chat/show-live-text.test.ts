import { expect, it } from 'vitest'
import type { StreamEvent } from '../../stream/index.js'
import { showLiveText } from './show-live-text.js'

const compaction = (message: string): StreamEvent => ({
  type: 'compaction.completed',
  unit: `compaction/3/${message}`,
  turn: 3,
  message,
  tokensBefore: 161_000,
  tokensAfter: 139_500,
  shortened: 4,
  summarized: 1,
  attempt: 1,
  offset: '0',
  time: 0,
})

it('shows the compaction for its message, and none for other messages', async () => {
  async function* stream() {
    yield* [compaction('earlier'), compaction('mine')]
  }
  const lines: string[] = []
  const shown = { setLiveText: () => undefined, printLine: (line: string) => lines.push(line) }
  await showLiveText(stream(), 'mine', shown, new AbortController().signal)
  expect(lines).toEqual(['› compaction: 161.0k to 139.5k tokens: 4 results shortened, 1 message summarized'])
})
