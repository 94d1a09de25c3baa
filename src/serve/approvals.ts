import { z } from 'zod'
import { waitingCalls } from '../client/calls/open-waits.js'
import type { PtcClient, WaitOfRun } from '../client/index.js'
import { decodeCompletionToken } from '../common/calls/completion-token.js'
import { defined } from '../common/defined.js'
import type { JsonValue } from '../common/json/json.js'
import { callActivityId } from '../common/names.js'
import { conversationNameOf } from './conversations.js'
import { type Exchange, jsonObject, readBody, type Reply, type Route } from './router.js'

/**
 * `GET /approvals`: the calls that wait for an approval or an answer. With `?conversation=NAME` or `?run=ID`: only
 * those of one run.
 */
async function listApprovals({ ptc, url: { searchParams: query } }: Exchange): Promise<Reply> {
  const name = query.get('conversation')
  const run = name === null ? query.get('run') : ptc.conversation(name).workflowId
  const waits = await (run === null ? sharedScan(ptc) : ptc.waits({ run }))
  return { body: waits.flatMap((wait) => toBodies(ptc, wait)) }
}

const scans = new WeakMap<PtcClient, Promise<readonly WaitOfRun[]>>()

/** Asks all runs, with the sessions that runs share. Concurrent requests share one scan. */
async function sharedScan(ptc: PtcClient): Promise<readonly WaitOfRun[]> {
  const current = scans.get(ptc)
  if (current) return current
  const scan = ptc.waits().finally(() => scans.delete(ptc))
  scans.set(ptc, scan)
  return scan
}

function toBodies(ptc: PtcClient, wait: WaitOfRun): readonly unknown[] {
  const { workflowId: run } = wait.run
  const conversation = conversationNameOf(ptc, run)
  return waitingCalls([wait]).map(({ position, ...call }) => ({
    run,
    ...defined({ conversation }),
    call: callActivityId(position),
    ...call,
  }))
}

const by = z.string().exactOptional()

const decision = z.discriminatedUnion('decision', [
  z.strictObject({
    decision: z.literal('approve'),
    arguments: jsonObject.exactOptional(),
    remember: z.boolean().exactOptional(),
    by,
  }),
  z.strictObject({
    decision: z.literal('deny'),
    reason: z.string().min(1),
    compensate: z.boolean().exactOptional(),
    by,
  }),
  z.strictObject({ decision: z.enum(['decline', 'cancel']), reason: z.string().exactOptional(), by }),
  z.strictObject({ decision: z.literal('answer'), value: z.custom<JsonValue>((value) => value !== undefined), by }),
])

/** `POST /approvals/:token`: decides on a call, or answers its question. */
async function decide(exchange: Exchange): Promise<Reply> {
  const { ptc, params } = exchange
  const { token = '' } = params
  decodeCompletionToken(token)
  const body = await readBody(exchange, decision)
  const decider = body.by === undefined ? {} : { by: body.by }
  switch (body.decision) {
    case 'approve': {
      const { decision: _, ...options } = body
      await ptc.approveCall(token, options)
      break
    }
    case 'deny': {
      const { decision: _, reason, ...options } = body
      await ptc.denyCall(token, reason, options)
      break
    }
    case 'decline':
    case 'cancel':
      await ptc.failCall(token, body.reason ?? 'a person declined', {
        ...decider,
        cancel: body.decision === 'cancel',
      })
      break
    case 'answer':
      await ptc.completeCall(token, body.value, decider)
  }
  return {}
}

export const approvalRoutes: readonly Route[] = [
  { method: 'GET', path: '/approvals', handler: listApprovals },
  { method: 'POST', path: '/approvals/:token', handler: decide },
]
