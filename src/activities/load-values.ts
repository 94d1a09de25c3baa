import type { Externalizable } from '../common/json/external-value.js'
import type { JsonValue } from '../common/json/json.js'
import type { TextParts } from '../common/agent/messages.js'
import { renderTextParts } from '../values/text-parts.js'
import { type ActivityParts, runActivity } from './run-activity.js'

/** Activity `output.join`: joins the parts of a text, and truncates it to its limit. */
export function joinText({ values }: Pick<ActivityParts, 'values'>) {
  return (text: TextParts): Promise<string> => runActivity(({ signal }) => renderTextParts(values, text, signal))
}

/** Activity `value.load`: loads an external value for a workflow. */
export function loadValue({ values }: Pick<ActivityParts, 'values'>) {
  return (value: Externalizable): Promise<JsonValue> =>
    runActivity(({ signal }) => values.load(value, 'a workflow', signal))
}
