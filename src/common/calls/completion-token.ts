import { PtcError } from '../errors.js'

/** This module is for workers and clients. Workflows can't use it, because they have no `Buffer`. */
const version = 1

/** The content of a completion token: the call that it completes, the run of the call, and a signature of the run. */
export interface CompletionToken {
  readonly namespace: string
  readonly workflowId: string
  /** The first execution of the workflow that waits. */
  readonly firstExecutionRunId: string
  readonly idempotencyKey: string
  readonly signature: string
}

/** Encodes a token in base64url, so that it may be a part of a URL. */
export function encodeCompletionToken(token: CompletionToken): string {
  const { namespace, workflowId, firstExecutionRunId, idempotencyKey, signature } = token
  const json = JSON.stringify([version, namespace, workflowId, firstExecutionRunId, idempotencyKey, signature])
  return Buffer.from(json).toString('base64url')
}

/** @throws PtcError COMPLETION_TOKEN_INVALID */
export function decodeCompletionToken(token: unknown): CompletionToken {
  const parts: unknown = typeof token === 'string' ? parseJson(token) : undefined
  if (!isParts(parts)) {
    throw new PtcError('COMPLETION_TOKEN_INVALID', 'this is not a completion token', {
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
