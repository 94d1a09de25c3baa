import { messageOf } from '../../../../src/common/errors.js'
import type { AgentResult, ProgramResult } from '../../../../src/common/run/runs.js'
import type { RunHandle } from '../../../../src/client/index.js'
import type { StreamEvent } from '../../../../src/stream/index.js'
import { expectLiveStream } from '../live-stream.js'
import type { FinishedRun } from './workload-driver.js'

/** A run whose live stream a reader has followed. */
export interface FollowedRun {
  readonly handle: RunHandle<AgentResult | ProgramResult>
  readonly answer: string
  readonly events: readonly StreamEvent[]
}

export interface CheckedStreams {
  /** Number of live streams that were read. */
  readonly followed: number
  /** Number of those whose reader lacks the last events, which workers wrote later. */
  readonly endedEarly: number
  readonly problems: readonly string[]
}

/** Reads the live streams again, and compares them with what readers got during the faults. */
export async function checkStreams(finished: readonly FinishedRun[]): Promise<CheckedStreams> {
  const all = finished.flatMap(({ followed }) => followed ?? [])
  const problems: string[] = []
  let endedEarly = 0
  const check = async ({ handle, answer, events }: FollowedRun): Promise<void> => {
    const expected = { end: { status: 'completed' }, texts: [answer], isComplete: false, mayEndEarly: true } as const
    try {
      if ((await expectLiveStream(events, handle, expected)) > 0) endedEarly += 1
    } catch (thrown) {
      problems.push(`the live stream of ${handle.workflowId} is wrong: ${messageOf(thrown)}`)
    }
  }
  await Promise.all(all.map(check))
  return { followed: all.length, endedEarly, problems }
}
