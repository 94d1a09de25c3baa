import { PtcError } from '../../common/errors.js'
import { FrameDecoder, parseFrame } from './frames.js'
import { type RunnerMessage, runnerMessage } from './messages.js'
import { ownTurn, Pace } from './pace.js'
import type { RunnerFrameLimits } from './runner-limits.js'
import { measureStructure } from './structure.js'

/** Decoded at once; a stream may give a MiB. */
const sliceBytes = 64 * 1024

/** What takes longer than a byte that is only passed on, in such bytes. */
const costs = { chunk: 4_000, frame: 1_000, structure: 32 } as const

/** Larger frames are read one in each turn of the event loop, whichever sandbox they are from; so is as much of smaller ones. */
const smallFrame = 16 * 1024

export interface Reading {
  /** The bytes may begin in the middle of a frame. */
  readonly resume: boolean
  /** Does anybody wait for a message? While nobody does, frames are skipped unread. */
  readonly isAwaited: () => boolean
}

/**
 * What a runner says, frame after frame, each checked. A sandbox that says more than a host can read beside its other work
 * is made to wait.
 *
 * @throws PtcError SANDBOX_PROTOCOL for the first frame that is none; the words are the host's own
 */
export async function* readMessages(
  received: AsyncIterable<Uint8Array>,
  limits: RunnerFrameLimits,
  { resume, isAwaited }: Reading,
): AsyncGenerator<RunnerMessage, void, undefined> {
  const decoder = new FrameDecoder(limits.bytes, { resume })
  const pace = new Pace()
  let sinceTurn = 0
  for await (const chunk of received) {
    await pace.spend(costs.chunk + chunk.length)
    for (let start = 0; start < chunk.length; start += sliceBytes) {
      const slice = chunk.subarray(start, start + sliceBytes)
      sinceTurn += slice.length
      // That a chunk is another one does not mean that timers have run: a socket gives many at once.
      if (sinceTurn > smallFrame) {
        await ownTurn()
        sinceTurn = 0
      }
      for (const body of decoder.push(slice)) {
        if (!isAwaited()) continue
        const isSmall = body.length <= smallFrame
        if (!isSmall) await ownTurn()
        const structure = measureStructure(body, limits.structure)
        await pace.spend(costs.frame + costs.structure * structure)
        const message = checked(parseFrame(body))
        // Whoever waits for it has work with it, too.
        if (!isSmall) await ownTurn()
        yield message
      }
    }
  }
}

function checked(frame: unknown): RunnerMessage {
  const { success, data } = runnerMessage.safeParse(frame)
  if (success) return data
  throw new PtcError('SANDBOX_PROTOCOL', 'the sandbox broke the protocol: it sent what is no message of a runner')
}
