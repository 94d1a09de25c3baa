import type { AuditLog, NewAuditEvent } from '../audit/index.js'
import { PtcError } from '../common/errors.js'
import type { Requester } from '../common/run/requester.js'
import { type EventDefinition, eventTable, type RunEvent } from '../common/telemetry/event-table.js'
import type { Publish, StreamData, StreamPublisher } from '../stream/index.js'
import type { ActivityScope } from './run-activity.js'

/** The sinks of a worker. */
export interface EventSinks {
  readonly audit?: AuditLog | undefined
  readonly stream?: StreamPublisher | undefined
}

/** The attempt of an activity that publishes. */
export type EventOrigin = Pick<ActivityScope, 'workflowId' | 'runId' | 'attempt' | 'signal'> & {
  readonly requester?: Requester | undefined
}

interface Unit {
  /** The unit that a retry repeats, and the epoch, in the live stream. */
  readonly unit: string
  readonly epoch?: number
  /** The same in the audit log, for all runs. Default: `unit`. */
  readonly id?: string
}

interface ObservedWork<Result> {
  readonly started?: RunEvent | undefined
  readonly completed: (result: Result) => readonly RunEvent[]
  readonly failed?: (thrown: unknown) => RunEvent
}

/** Publishes the events of one attempt at a unit, to each sink that the table of events names. */
export class Observer {
  readonly #origin: EventOrigin
  readonly #id: string
  readonly #stream: Publish | undefined
  #audit: AuditLog | undefined

  constructor({ audit, stream }: EventSinks, origin: EventOrigin, { unit, epoch = 0, id = unit }: Unit) {
    const { workflowId, runId, attempt } = origin
    this.#origin = origin
    this.#id = id
    this.#stream = stream?.attempt({ workflowId, runId, attempt, unit, epoch })
    this.#audit = audit
  }

  /**
   * Does work, and publishes its start and its end.
   *
   * @param work receives a function that publishes to the live stream, and does nothing after the end
   * @throws PtcError AUDIT_UNAVAILABLE: the work did not start; and errors of the work
   */
  async observe<Result>(
    { started, completed, failed }: ObservedWork<Result>,
    work: (publish: (event: RunEvent) => void) => Promise<Result>,
  ): Promise<Result> {
    let hasEnded = false
    const publish = (event: RunEvent): void => {
      if (!hasEnded) void this.publish(event)
    }
    try {
      if (started) await this.publish(started)
      const result = await work(publish)
      hasEnded = true
      for (const event of completed(result)) await this.publish(event)
      return result
    } catch (thrown) {
      hasEnded = true
      if (failed) await this.publish(failed(thrown))
      throw thrown
    }
  }

  /** @throws PtcError AUDIT_UNAVAILABLE before an effect */
  async publish(event: RunEvent): Promise<void> {
    const { stream, audit, ...all } = event as RunEvent & OwnFields
    const { stream: isStreamed, audit: time }: EventDefinition = eventTable[event.type]
    if (isStreamed) this.#stream?.({ ...all, ...stream?.() } as StreamData)
    if (time === undefined || this.#audit === undefined) return
    const { workflowId, runId, attempt, requester, signal } = this.#origin
    const id = `${this.#id}/${event.type}${time === 'attempt' ? `/${attempt}` : ''}`
    const stored = { id, workflowId, runId, attempt, ...requester, ...all, ...(await audit?.()) } as NewAuditEvent
    if (time !== 'before') return this.#audit.after(stored)
    try {
      await this.#audit.before(stored, signal)
    } catch (thrown) {
      // The effect does not start, so the log gets no end of it.
      this.#audit = undefined
      throw thrown
    }
  }
}

interface OwnFields {
  readonly stream?: () => Readonly<Record<string, unknown>>
  readonly audit?: () => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>
}

/** Returns the code of an error for an event. */
export function codeOf(thrown: unknown, { signal }: Pick<EventOrigin, 'signal'>): string {
  if (PtcError.isInstance(thrown)) return thrown.code
  return signal.aborted ? 'CANCELLED' : 'INTERNAL'
}
