/** What an operator does to an activity with `temporal activity`, and the loss of an attempt. */
import type { Client, WorkflowHandle } from '@temporalio/client'
import { vi } from 'vitest'
import { pollOptions } from '../poll-options.js'
import { sharedServer } from './shared-server.js'

interface PendingStep {
  readonly client: Client
  readonly handle: WorkflowHandle
}

/** Pauses, unpauses or resets the pending activities of a run, as `temporal activity` does. */
export class ActivityCommands {
  readonly #client: Client
  readonly #handle: WorkflowHandle

  constructor({ client, handle }: PendingStep) {
    this.#client = client
    this.#handle = handle
  }

  get #target() {
    return { namespace: sharedServer().namespace, execution: { workflowId: this.#handle.workflowId } }
  }

  async pause(type: string): Promise<void> {
    await this.#client.workflowService.pauseActivity({ ...this.#target, type, reason: 'test' })
  }

  async unpause(type: string, options: { readonly resetHeartbeat?: boolean; readonly resetAttempts?: boolean } = {}) {
    await this.#client.workflowService.unpauseActivity({ ...this.#target, type, ...options })
  }

  async reset(type: string, options: { readonly resetHeartbeat: boolean }): Promise<void> {
    await this.#client.workflowService.resetActivity({ ...this.#target, type, ...options })
  }

  /** Settles when the server has got another heartbeat. */
  async waitForHeartbeat(): Promise<void> {
    const first = await this.#lastHeartbeat()
    await vi.waitUntil(async () => (await this.#lastHeartbeat()) !== first, pollOptions)
  }

  async #lastHeartbeat(): Promise<string> {
    const { raw } = await this.#handle.describe()
    return JSON.stringify((raw.pendingActivities ?? []).map(({ lastHeartbeatTime }) => lastHeartbeatTime))
  }

  /** The server counts the attempts in progress as lost. The next attempt may begin while this one still runs. */
  async loseAttempts(): Promise<void> {
    const { raw } = await this.#handle.describe()
    const { execution, namespace } = this.#target
    for (const { activityId = null } of raw.pendingActivities ?? []) {
      await this.#client.workflowService.respondActivityTaskFailedById({
        namespace,
        ...execution,
        activityId,
        failure: { message: 'the test has lost this attempt' },
      })
    }
  }
}
