import { PtcError } from '../errors.js'

/** For workers and clients; not for workflows, which have no `Buffer`. */
const version = 1

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
  const parts: unknown = typeof token === 'string' ? parseJson(token) : undefined
  if (!isParts(parts)) {
    throw new PtcError('COMPLETION_TOKEN_INVALID', 'this is no completion token', {
      hint: 'Give the completionToken that the tool got, unchanged.',
    })
  }
  const [, namespace, workflowId, firstExecutionRunId, idempotencyKey, signature] = parts
  return { namespace, workflowId, firstExecutionRunId, idempotencyKey, signature }
}

type Parts = readonly [number, string, string, string, string, string]

function isParts(value: unknown): value is Parts {
  if (!Array.isArray(value) || value.length !== 6) return false
  const [first, ...others]: unknown[] = value
  return first === version && others.every((part) => typeof part === 'string')
}

function parseJson(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    return undefined
  }
}
