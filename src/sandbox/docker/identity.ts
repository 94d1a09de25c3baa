import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { SandboxId, SandboxSpec } from '../backend.js'

/** The labels of every container of ours; nothing without `ptc.owner` is ever touched. */
export const label = {
  owner: 'ptc.owner',
  workflow: 'ptc.workflow',
  run: 'ptc.run',
  session: 'ptc.session',
  epoch: 'ptc.epoch',
  /** Unix seconds; afterwards anybody may remove the container. */
  expires: 'ptc.expires',
  /** Of a container made ahead: the pool it was made for. Labels never change, so its session is told by its name. */
  pool: 'ptc.pool',
  /** Unix seconds; a container made ahead that has no session by then may be removed by anybody. */
  unclaimedUntil: 'ptc.unclaimed-until',
} as const

/** A sandbox and the workflow that it belongs to: the same session is never another workflow's. */
export type OwnedSandbox = SandboxId & Pick<SandboxSpec, 'workflowId'>

/** What a sandbox is found by: readable as far as Docker allows, unique by its digest. */
export function sandboxName(id: SandboxId): string {
  const readable = id.session.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 40)
  return `ptc-${readable}-e${id.epoch}-${digestOf(id).toString('hex').slice(0, 12)}`
}

/**
 * The one container name of a sandbox. It ends in a record of session and workflow, so that renaming a container made ahead
 * gives it to a session and writes down whose it is in one step. (Docker takes names of thousands of characters.)
 */
export function containerName(sandbox: OwnedSandbox): string {
  const record = Buffer.from(JSON.stringify([sandbox.session, sandbox.workflowId])).toString('base64url')
  return `${sandboxName(sandbox)}.${record}`
}

/** What a container tells about itself; `expires` in unix seconds. */
export function containerLabels(spec: SandboxSpec, expires: number): Record<string, string> {
  return {
    [label.owner]: spec.namespace,
    [label.workflow]: spec.workflowId,
    [label.run]: spec.runId,
    [label.session]: spec.session,
    [label.epoch]: String(spec.epoch),
    [label.expires]: String(expires),
  }
}

export type Labels = Readonly<Record<string, string>>

/** Whose a container is. */
export interface Identity {
  readonly id: SandboxId
  readonly workflowId: string
  /** The run that made the container; undefined when it was made ahead. */
  readonly runId: string | undefined
}

/** Whose the container of this name (without slash) and these labels is; undefined when it has no session, or is not ours. */
export function identityOf(name: string, labels: Labels): Identity | undefined {
  const namespace = labels[label.owner]
  if (namespace === undefined) return undefined
  return labels[label.pool] === undefined ? toldByLabels(namespace, labels) : toldByName(namespace, name)
}

function toldByLabels(namespace: string, labels: Labels): Identity | undefined {
  const session = labels[label.session]
  const epoch = Number(labels[label.epoch] ?? Number.NaN)
  if (session === undefined || !Number.isSafeInteger(epoch)) return undefined
  return { id: { namespace, session, epoch }, workflowId: labels[label.workflow] ?? '', runId: labels[label.run] }
}

const nameParts = /-e(\d+)-[0-9a-f]{12}\.([A-Za-z0-9_-]+)$/
const nameRecord = z.tuple([z.string(), z.string()])

function toldByName(namespace: string, name: string): Identity | undefined {
  const [, epoch, record] = nameParts.exec(name) ?? []
  if (epoch === undefined || record === undefined) return undefined
  const parsed = nameRecord.safeParse(parseJson(Buffer.from(record, 'base64url').toString()))
  if (!parsed.success) return undefined
  const [session, workflowId] = parsed.data
  const id = { namespace, session, epoch: Number(epoch) }
  // The digest in the name covers the namespace too: a name that somebody made up is nobody's.
  return containerName({ ...id, workflowId }) === name ? { id, workflowId, runId: undefined } : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isSame(one: SandboxId, other: SandboxId): boolean {
  return one.namespace === other.namespace && one.session === other.session && one.epoch === other.epoch
}

/** SHA-256 of all that tells sandboxes apart. */
export function digestOf({ namespace, session, epoch }: SandboxId): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([namespace, session, epoch]))
    .digest()
}
