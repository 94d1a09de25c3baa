import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { RunTree } from '../../client/index.js'
import type { CallWait } from '../../client/run-tree/index.js'
import { withAbortListener } from '../../common/async/abort.js'
import { deferred } from '../../common/async/deferred.js'
import { askForDecisions, openQuestions, type SentDecisions } from './decisions.js'
import { describeProgress } from './progress.js'
import { unfinishedResult } from './results.js'
import { formatWorkId, type WorkId } from './work-id.js'

/** How a request follows work. */
export interface FollowOptions {
  /** Called when the work has an id, so that its result can be waited for again. */
  readonly onStarted: (id: WorkId) => void
  /** Called with the progress of the work. */
  readonly onChange: (tree: RunTree) => void
  /** Aborted when the request no longer waits; the work continues (invariant 1 of `index.ts`). */
  readonly leaveSignal: AbortSignal
  /** Aborted when the request is cancelled: the work is to stop. */
  readonly cancelSignal: AbortSignal
}

/** Starts work, or continues to wait for it. Resolves with the result of the work. */
export type Follow = (options: FollowOptions) => Promise<CallToolResult>

/** A request that waits for work. */
export interface WaitingRequest {
  /** Aborted when the client cancels the request, or when its connection ends. */
  readonly signal: AbortSignal
  /** Whether the abort of the signal means that the work is to stop. */
  readonly isCancelled: () => boolean
  readonly report: (text: string) => void
  /** The client can ask a person. */
  readonly canAsk: boolean
  readonly decisions: SentDecisions
  /** Milliseconds after which the request ends without the result. */
  readonly waitMs: number
  /** The request ends as soon as the work has an id. */
  readonly isTask: boolean
}

/** The end of a request: the result, questions for a person, or the id of the work that continues. */
export type Waited =
  | { readonly type: 'result'; readonly result: CallToolResult }
  | { readonly type: 'questions'; readonly questions: InputRequiredResult }
  | { readonly type: 'started'; readonly id: WorkId }

/**
 * Follows work until its end, until it needs the decision of a person, or for the time of the request.
 *
 * @throws what `follow` throws; the reason of the request's signal when its connection has ended
 */
export async function waitForWork(request: WaitingRequest, follow: Follow): Promise<Waited> {
  const leave = new AbortController()
  const cancel = new AbortController()
  const started = deferred<WorkId>()
  const asked = deferred<readonly CallWait[]>()
  let id: WorkId | undefined
  let state = 'The work has not started'
  const onAbort = (): void => (request.isCancelled() ? cancel : leave).abort(request.signal.reason)
  const following = follow({
    leaveSignal: leave.signal,
    cancelSignal: cancel.signal,
    onStarted(startedId) {
      id = startedId
      started.resolve(startedId)
    },
    onChange(tree) {
      state = describeProgress(tree)
      request.report(state)
      const questions = request.canAsk ? openQuestions(tree, request.decisions.undecided) : []
      if (questions.length > 0) asked.resolve(questions)
    },
  })
  const ended = following.then((result): Waited => ({ type: 'result', result }))
  const left = new AbortController()
  const endings: Promise<Waited>[] = [ended]
  const workId = async (): Promise<WorkId> => id ?? started.promise
  if (request.isTask) endings.push(started.promise.then((startedId) => ({ type: 'started', id: startedId })))
  else {
    const questions = asked.promise.then(async (waits): Promise<Waited> => {
      return { type: 'questions', questions: askForDecisions(await workId(), waits, request.decisions) }
    })
    const timeout = delay(request.waitMs, undefined, { signal: left.signal }).then(async (): Promise<Waited> => {
      return { type: 'result', result: unfinishedResult(formatWorkId(await workId()), state) }
    })
    endings.push(questions, timeout)
  }
  try {
    return await withAbortListener(request.signal, onAbort, () => Promise.race(endings))
  } finally {
    left.abort()
    leave.abort(new Error('the request has ended'))
    for (const ending of endings) ending.catch(() => undefined)
  }
}
