import { setTimeout } from 'node:timers/promises'
import { getClient } from '@temporalio/activity'
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { estimateTokens } from '../../common/agent/context-window.js'
import { ConcurrencyLimit } from '../../common/async/concurrency-limit.js'
import { digestJson } from '../../common/calls/call-identity.js'
import type { Sample, SampleUpdateInput, SampleUpdateResult, SamplingRequest } from '../../common/calls/sampling.js'
import type { SamplingConfig } from '../../common/calls/tool-config.js'
import type { JsonValue } from '../../common/json/json.js'
import { sampleUpdate } from '../../common/names.js'
import { pluralize, utf8Length } from '../../common/text/text.js'
import type { Values } from '../../values/values.js'
import type { ActivityScope } from '../run-activity.js'

interface SamplingCall extends Pick<ActivityScope, 'workflowId' | 'runId'> {
  readonly idempotencyKey: string
  readonly values: Values
}

/** Requests of one call at once. The server limits the updates in progress of a workflow to 10. */
const maxConcurrent = 4

/** Pause after an update whose outcome could not be read. The next one has its id, and so gets its outcome. */
const pauseMs = 1_000

/**
 * Returns the function by which one attempt of a call gets replies of the model of its run. The workflow decides, and
 * records the reply (`src/workflows/calls/sampling.ts`).
 */
export function sampleFor(call: SamplingCall, { from, requests }: SamplingConfig): Sample {
  const { workflowId, runId, idempotencyKey, values } = call
  // A request of a server comes outside of the context of the activity.
  const client = getClient()
  const handle = client.workflow.getHandle(workflowId, runId)
  const limit = new ConcurrencyLimit(maxConcurrent)
  /** Number of equal requests, by their digest: an attempt that repeats its requests gets the recorded replies. */
  const equal = new Map<string, number>()
  let count = 0

  async function send(input: SampleUpdateInput, updateId: string, signal: AbortSignal): Promise<SampleUpdateResult> {
    const update = { args: [input] as [SampleUpdateInput], updateId }
    const execute = () => handle.executeUpdate<SampleUpdateResult, [SampleUpdateInput]>(sampleUpdate, update)
    for (;;) {
      try {
        return await client.withAbortSignal(signal, execute)
      } catch (thrown) {
        signal.throwIfAborted()
        if (thrown instanceof WorkflowUpdateFailedError) throw new Error(messageOfFailure(thrown), { cause: thrown })
        if (thrown instanceof WorkflowNotFoundError) throw new Error('the run has ended', { cause: thrown })
        await setTimeout(pauseMs, undefined, { signal })
      }
    }
  }

  return async (request, signal) => {
    count += 1
    // A flood of requests does not reach the workflow.
    if (count > requests) throw new Error(`a run answers at most ${pluralize(requests, 'request')} of ${from}`)
    return limit.run(async () => {
      signal.throwIfAborted()
      const json = request as unknown as JsonValue
      const digest = digestJson(json)
      const number = (equal.get(digest) ?? 0) + 1
      equal.set(digest, number)
      const stored = await values.externalize(json, signal)
      const { maxTokens } = request
      const id = `${digest}/${number}`
      const input = { idempotencyKey, id, request: stored, maxTokens, promptTokens: estimatePrompt(request) }
      const { text, ...reply } = await send(input, `sample/${idempotencyKey}/${id}`, signal)
      return { ...reply, text: (await values.load(text, 'a reply of the model', signal)) as string }
    })
  }
}

function messageOfFailure({ cause }: WorkflowUpdateFailedError): string {
  return cause instanceof ApplicationFailure ? cause.message : 'the run could not ask its model'
}

/** Tokens of an image of the largest size that models see. */
const imageTokens = 1_600

function estimatePrompt({ system = '', messages }: SamplingRequest): number {
  const blocks = messages.flatMap(({ content }) => [...content])
  const texts = blocks.flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : []))
  const bytes = [system, ...texts].reduce((sum, text) => sum + utf8Length(text), 0)
  return estimateTokens(bytes) + imageTokens * (blocks.length - texts.length)
}
