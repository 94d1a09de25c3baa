import { z } from 'zod'
import type { Timeouts } from '../../common/run/run-config.js'
import type { Duration } from '../../common/text/duration.js'
import { durationOption } from '../../platform/option-schemas.js'

/** Timeouts of a run and of a worker. */
export interface TimeoutsOption {
  /** Timeout of one model call. Default 10 minutes. */
  readonly model?: Duration
  /** Code that waits this long for tools or a timer is parked: its sandbox is released. Default 60 seconds. */
  readonly park?: Duration
  /** An agent that runs no code for this long releases its sandbox. Default 270 seconds. */
  readonly idle?: Duration
  /**
   * Time that running tools and model calls get when a worker is stopped; then they are cancelled. Default 10 seconds.
   */
  readonly shutdown?: Duration
}

export const timeoutsOption = z
  .strictObject({
    model: durationOption('10m'),
    park: durationOption('60s'),
    idle: durationOption('270s'),
    shutdown: durationOption('10s'),
  } satisfies { readonly [Key in keyof TimeoutsOption]-?: z.ZodType })
  .prefault({})

/**
 * Timeouts that nobody has to change. An attempt without a heartbeat for this time is retried: a dead worker delays a
 * call by it, and a worker that is only busy must not exceed it. A step that waits on the queue of its host for longer
 * than `hostMs` goes to another host, where its session is rebuilt.
 */
export const fixedTimeouts: Pick<Timeouts, 'heartbeatMs' | 'hostMs'> = { heartbeatMs: 10_000, hostMs: 30_000 }
