import { activityInfo } from '@temporalio/activity'
import { defined } from '../../common/defined.js'
import { failpoint } from '../../common/failpoint.js'
import type { SampleActivityInput, SampleActivityResult, SamplingRequest } from '../../common/calls/sampling.js'
import { replyText } from '../../common/run/runs.js'
import type { ModelRequest } from '../../models/provider.js'
import { codeOf, Observer } from '../observe.js'
import { runActivity } from '../run-activity.js'
import type { ModelParts } from './model-turn.js'
import { measureTurn } from './observe-turn.js'

/** Activity `model.sample`: gets a reply of the model for the service of a tool, such as an MCP server. */
export function sampleModel(parts: ModelParts) {
  const { providers, values } = parts
  return (input: SampleActivityInput): Promise<SampleActivityResult> =>
    runActivity((scope) => {
      const { tool, position, model, requester } = input
      const { turn, cell, index } = position
      const fields = { tool, turn, cell, index, model: model.name }
      const unit = `sampling/${activityInfo().activityId}`
      return new Observer(parts, { ...scope, requester }, { unit, id: `${scope.runId}/${unit}` }).observe(
        {
          started: { type: 'sampling.started', ...fields },
          completed: ({ model: answered, stopReason }) => [
            { type: 'sampling.completed', ...fields, model: answered, stopReason },
          ],
          failed: (thrown) => ({ type: 'sampling.failed', ...fields, code: codeOf(thrown, scope) }),
        },
        async () => {
          const { signal, report } = scope
          const asked = (await values.load(
            input.request,
            'the request of a tool',
            signal,
          )) as unknown as SamplingRequest
          const { messages, system = '', temperature = model.temperature, stopSequences } = asked
          const { name, provider, maxTokens } = model
          const settings = { maxTokens, ...defined({ temperature, stopSequences }) }
          const request: ModelRequest = { model: name, ...settings, system, tools: [], messages }
          const ask = () => providers.turn(provider, request, { signal, onProgress: report })
          const { content, ...reply } = await measureTurn(provider, request, ask)
          failpoint('model.replied')
          return { ...reply, text: await values.externalize(replyText(content), signal) }
        },
      )
    })
}
