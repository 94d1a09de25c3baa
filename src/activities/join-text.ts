import type { TextParts } from '../common/agent/messages.js'
import { renderTextParts } from '../values/text-parts.js'
import type { Values } from '../values/values.js'
import { runActivity } from './run-activity.js'

/** Activity `output.join`: joins the parts of a text, and truncates it to its limit. */
export function joinText(values: Values) {
  return (text: TextParts): Promise<string> => runActivity(({ signal }) => renderTextParts(values, text, signal))
}
