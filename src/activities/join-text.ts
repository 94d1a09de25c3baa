import { HeadTailBuffer } from '../common/head-tail-buffer.js'
import type { TextParts } from '../common/messages.js'
import { jsonToText } from '../common/text.js'
import { refOf } from '../common/external-value.js'
import type { Values } from '../values/values.js'
import { runActivity } from './run-activity.js'

/** Activity `output.join`: joins a text in parts, truncated to its limit. */
export function joinText(values: Values) {
  return (text: TextParts): Promise<string> => runActivity(({ signal }) => renderTextParts(values, text, signal))
}

/** Larger values are never loaded as a whole; of those, the text has head and tail of the JSON. */
const maxInMemoryBytes = 4 * 1024 * 1024

/** The joined text, truncated to its limit. */
export async function renderTextParts(
  values: Values,
  { parts, limit, suffix }: TextParts,
  signal: AbortSignal,
): Promise<string> {
  const output = new HeadTailBuffer(limit)
  for (const part of parts) {
    const ref = refOf(part)
    if (ref !== undefined && ref.bytes > maxInMemoryBytes)
      output.add(await values.excerpt(part, limit, neededBy, signal))
    else output.add(jsonToText(await values.load(part, neededBy, signal)))
  }
  if (suffix === '') return output.text
  return [output.text.trimEnd(), suffix].filter((piece) => piece !== '').join('\n')
}

const neededBy = 'what the model is to read'
