import { randomUUID } from 'node:crypto'
import type { Limits } from '../../common/limits.js'
import type { DockerConnection } from './connection.js'
import type { ContainerBody } from './container-body.js'
import type { ContainerMaker } from './container-maker.js'
import type { DockerEngine } from './engine.js'
import { label } from './identity.js'

/** A started container without a session, attached to; its runner waits to be greeted. */
export interface Spare {
  /** Until it has a session. */
  readonly name: string
  /** Container id. */
  readonly container: string
  readonly body: ContainerBody
  readonly connection: DockerConnection
  /** By `performance.now`; later it is nobody's, and a reaper may be at it. */
  readonly usableUntil: number
}

/** Begins the name of every spare, and of nothing else: the name of a sandbox has a dot in it, this one has none. */
const namePrefix = 'ptc-spare-'

export function isSpareName(name: string): boolean {
  return name.startsWith(namePrefix) && !name.includes('.')
}

export interface SpareOptions {
  readonly engine: DockerEngine
  readonly maker: ContainerMaker
  readonly owner: string
  readonly pool: string
  readonly limits: Limits
  /** Seconds until anybody may remove it. */
  readonly unclaimedSeconds: number
  /** Seconds a sandbox may live. */
  readonly lifetimeSeconds: number
}

/** The last fifth of its time a spare is not used any more: reapers of other hosts have other clocks. */
const usableShare = 0.8

/** @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE */
export async function makeSpare(options: SpareOptions): Promise<Spare> {
  const { engine, maker, owner, pool, limits, unclaimedSeconds, lifetimeSeconds } = options
  const key = randomUUID()
  const name = `${namePrefix}${key}`
  const usableUntil = performance.now() + unclaimedSeconds * 1_000 * usableShare
  const seconds = Math.floor(Date.now() / 1_000)
  const labels = {
    [label.owner]: owner,
    [label.pool]: pool,
    [label.unclaimedUntil]: String(seconds + unclaimedSeconds),
    // A session gets its whole time, however late it comes.
    [label.expires]: String(seconds + unclaimedSeconds + lifetimeSeconds),
  }
  const body = await maker.body({ namespace: owner, session: name, epoch: 0 }, labels, limits)
  try {
    const container = (await maker.create(name, body)) ?? name
    const connection = await maker.connect(container, 'created')
    return { name, container, body, connection, usableUntil }
  } catch (error) {
    await engine.remove(name).catch(() => {})
    throw error
  }
}

export type ClaimOutcome =
  | 'claimed'
  /** Another container has the name: the sandbox exists. */
  | 'exists'
  /** The spare is of no use: gone, ended or paused. */
  | 'unfit'

/**
 * Gives a spare to the sandbox of this name. The rename is the claim: Docker lets one container have a name, whoever asks.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE; the reason of `signal`
 */
export async function claimSpare(
  engine: DockerEngine,
  { name, container }: Spare,
  sandbox: string,
  signal: AbortSignal,
): Promise<ClaimOutcome> {
  // At once, to lose no time: whether it is fit matters only to who has it.
  const [renamed, found] = await Promise.all([engine.rename(name, sandbox, signal), engine.inspect(container, signal)])
  if (renamed === 'taken') return 'exists'
  if (renamed === 'gone') return 'unfit'
  if (found?.State.Running === true && !found.State.Paused) return 'claimed'
  await engine.remove(container)
  return 'unfit'
}

/** Ends a spare that has no session. By its name, not its id: what got a session meanwhile has another name. */
export async function discardSpare(engine: DockerEngine, { name, connection }: Spare): Promise<void> {
  await Promise.all([connection.detach(), engine.remove(name).catch(() => {})])
}
