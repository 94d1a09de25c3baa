/**
 * The state of a session's sandbox in the workflow.
 *
 * | state          | opened | stepped | parkStarted            | checkpointed   | released | resumed | discarded |
 * |----------------|--------|---------|------------------------|----------------|----------|---------|-----------|
 * | `none`         | `open` | -       | -                      | -              | -        | -       | `none`    |
 * | `open`         | -      | `open`  | `parking` or `parked`  | -              | -        | -       | `none`    |
 * | `parking`      | -      | -       | -                      | `checkpointed` | `parked` | -       | `none`    |
 * | `checkpointed` | -      | -       | -                      | -              | -        | `open`  | `none`    |
 * | `parked`       | `open` | -       | -                      | -              | -        | -       | `none`    |
 *
 * `parkStarted` leads to `parking` when the host can keep the sandbox as a checkpoint, else to `parked`.
 */
export type SandboxState =
  /** There is no sandbox: none was opened yet, or the last one was lost or removed. The next step opens one. */
  | { readonly type: 'none' }
  | {
      readonly type: 'open'
      readonly hostQueue: string
      readonly supportsCheckpoint: boolean
      /** The sandbox has the stubs of the run's tools. */
      readonly hasStubs: boolean
    }
  /** The host makes a checkpoint. */
  | { readonly type: 'parking'; readonly hostQueue: string }
  /** The host keeps the sandbox as a checkpoint; the next step resumes it there. */
  | { readonly type: 'checkpointed'; readonly hostQueue: string }
  /** The workflow released the sandbox; the next step rebuilds it from the journal. */
  | { readonly type: 'parked' }

export type SandboxEvent =
  | { readonly type: 'opened'; readonly hostQueue: string; readonly supportsCheckpoint: boolean }
  | { readonly type: 'stepped' }
  | { readonly type: 'parkStarted' }
  | { readonly type: 'checkpointed' }
  | { readonly type: 'released' }
  | { readonly type: 'resumed' }
  | { readonly type: 'discarded' }

/**
 * Returns the state after an event.
 *
 * @throws Error for an event that the table does not have: a defect of the engine
 */
export function transition(state: SandboxState, event: SandboxEvent): SandboxState {
  if (event.type === 'discarded') return { type: 'none' }
  switch (state.type) {
    case 'none':
    case 'parked':
      if (event.type !== 'opened') break
      return { ...event, type: 'open', hasStubs: false }
    case 'open':
      if (event.type === 'stepped') return { ...state, hasStubs: true }
      if (event.type !== 'parkStarted') break
      return state.supportsCheckpoint ? { type: 'parking', hostQueue: state.hostQueue } : { type: 'parked' }
    case 'parking':
      if (event.type === 'checkpointed') return { ...state, type: 'checkpointed' }
      if (event.type !== 'released') break
      return { type: 'parked' }
    case 'checkpointed':
      if (event.type !== 'resumed') break
      return { ...state, type: 'open', supportsCheckpoint: true, hasStubs: true }
  }
  throw new Error(`a sandbox that is ${state.type} has no event ${event.type}`)
}

/** Returns the task queue of the sandbox's host; undefined when there is no sandbox. */
export function hostQueueOf(state: SandboxState): string | undefined {
  return 'hostQueue' in state ? state.hostQueue : undefined
}
