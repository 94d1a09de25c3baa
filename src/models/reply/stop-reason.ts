import { PtcError } from '../../common/errors.js'
import type { StopReason } from '../../common/agent/messages.js'

/** The reason of a reply that the server or its connection has broken off: it is no reply. */
const brokenOff = 'error'

/** The names that servers give to a reason, in lower case and without `_` and `-`. */
const names: Readonly<Record<string, readonly string[]>> = {
  end_turn: ['endturn', 'stop', 'eos', 'eostoken', 'complete', 'completed'],
  stop_sequence: ['stopsequence'],
  tool_use: ['tooluse', 'toolcall', 'toolcalls', 'functioncall'],
  // `model_length`: Mistral.
  max_tokens: [
    'maxtokens',
    'maxoutputtokens',
    'maxcompletiontokens',
    'maxnewtokens',
    'length',
    'maxlength',
    'modellength',
  ],
  model_context_window_exceeded: ['modelcontextwindowexceeded', 'contextwindowexceeded', 'contextlengthexceeded'],
  // `sensitive`: GLM. `safety` and those after it: Gemini. `guardrail_intervened`: Bedrock.
  refusal: [
    'refusal',
    'contentfilter',
    'contentfiltered',
    'sensitive',
    'safety',
    'imagesafety',
    'recitation',
    'blocklist',
    'prohibitedcontent',
    'spii',
    'guardrailintervened',
  ],
  // `abort`: vLLM, SGLang. `network_error`: GLM. `insufficient_system_resource`: DeepSeek.
  [brokenOff]: [
    'error',
    'servererror',
    'networkerror',
    'abort',
    'aborted',
    'cancel',
    'cancelled',
    'canceled',
    'timeout',
    'failed',
    'insufficientsystemresource',
    'malformedfunctioncall',
  ],
}

const reasons: ReadonlyMap<string, StopReason> = new Map(
  Object.entries(names).flatMap(([reason, all]) => all.map((name) => [name, reason] as const)),
)

/**
 * The stop reason that a server means by the name it gives, in any case. A name that is in no list stays as it is and
 * ends the reply as `end_turn` does: an API may add reasons, most of which are ends.
 *
 * @throws PtcError MODEL_SERVER when the server has broken off the reply
 */
export function toStopReason(given: string): StopReason {
  const reason = reasons.get(given.toLowerCase().replaceAll(/[\s_-]/g, '')) ?? given
  if (reason !== brokenOff) return reason
  throw new PtcError('MODEL_SERVER', "The model's reply can't be used: the server ended it with an error.", {
    hint: 'Usually passes by itself; the call is tried again.',
  })
}

const truncating: ReadonlySet<StopReason> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal'])

/** Whether the output of a reply with this reason is cut, possibly within the input of a tool. */
export function isTruncating(reason: StopReason): boolean {
  return truncating.has(reason)
}
