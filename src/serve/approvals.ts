import { z } from 'zod'
import { type ListedCall, waitingCalls, waitingCallsOf } from '../client/calls/waiting-calls.js'
import type { PtcClient } from '../client/index.js'
import { decodeCompletionToken } from '../common/calls/completion-token.js'
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
  return { body: await (run === null ? sharedScan(ptc) : callsOf(ptc, run)) }
}

const scans = new WeakMap<PtcClient, Promise<readonly unknown[]>>()

/** Reads the histories of all runs. Concurrent requests share one scan. */
async function sharedScan(ptc: PtcClient): Promise<readonly unknown[]> {
  const current = scans.get(ptc)
  if (current) return current
  const scan = callsOfAll(ptc).finally(() => scans.delete(ptc))
  scans.set(ptc, scan)
  return scan
}

/** A list of all runs also has the sessions that runs share. */
async function callsOfAll(ptc: PtcClient): Promise<readonly unknown[]> {
  const waits = await ptc.waits()
  return waits.flatMap(({ run, wait }) => waitingCalls({ waitsFor: [wait] }).map(toBody(ptc, run.workflowId)))
}

async function callsOf(ptc: PtcClient, run: string): Promise<readonly unknown[]> {
  return (await waitingCallsOf(ptc, run)).map(toBody(ptc, run))
}

function toBody(ptc: PtcClient, run: string): (call: ListedCall) => unknown {
  const conversation = conversationNameOf(ptc, run)
  return ({ position, ...call }) => ({
    run,
    ...(conversation !== undefined && { conversation }),
    call: callActivityId(position),
    ...call,
  })
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
    case 'answer':
      await ptc.completeCall(token, body.value, decider)
  }
  return {}
}

export const approvalRoutes: readonly Route[] = [
  { method: 'GET', path: '/approvals', handler: listApprovals },
  { method: 'POST', path: '/approvals/:token', handler: decide },
]
