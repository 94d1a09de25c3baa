import { z } from 'zod'
import { PtcError } from '../common/errors.js'

const version = 1

const parts = z.tuple([z.literal(version), z.string(), z.string(), z.string(), z.string(), z.string()])

/** What a completion token says: which call of which run it completes, and that the run made the token. */
export interface CompletionToken {
  readonly namespace: string
  readonly workflowId: string
  /** The first execution of the workflow that waits. */
  readonly firstExecutionRunId: string
  readonly idempotencyKey: string
  readonly signature: string
}

/** A token in base64url: it may be a part of a URL. */
export function encodeCompletionToken(token: CompletionToken): string {
  const { namespace, workflowId, firstExecutionRunId, idempotencyKey, signature } = token
  const json = JSON.stringify([version, namespace, workflowId, firstExecutionRunId, idempotencyKey, signature])
  return Buffer.from(json).toString('base64url')
}

/** @throws PtcError COMPLETION_TOKEN_INVALID */
export function decodeCompletionToken(token: unknown): CompletionToken {
  const { data } = parts.safeParse(typeof token === 'string' ? parseJson(token) : undefined)
  if (!data) {
    throw new PtcError('COMPLETION_TOKEN_INVALID', 'this is no completion token', {
      hint: 'Give the completionToken that the tool got, unchanged.',
    })
  }
  const [, namespace, workflowId, firstExecutionRunId, idempotencyKey, signature] = data
  return { namespace, workflowId, firstExecutionRunId, idempotencyKey, signature }
}

function parseJson(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    return undefined
  }
}
