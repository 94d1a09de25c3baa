import { CellOutput } from '../common/cell-output.js'
import type { HeldText } from '../common/messages.js'
import { textOfJson } from '../common/text.js'
import { refOf } from '../common/values.js'
import type { Values } from '../values/values.js'
import { inActivity } from './in-activity.js'

/** Activity `output.join`: text that is kept in parts, in place and cut. */
export function joinText(values: Values) {
  return (text: HeldText): Promise<string> => inActivity(({ signal }) => textOfHeld(values, text, signal))
}

/** Larger values are never whole in memory: their reader gets head and tail of them as JSON. */
const wholeBytes = 4 * 1024 * 1024

/** The text as its reader gets it. */
export async function textOfHeld(
  values: Values,
  { parts, limit, after }: HeldText,
  signal: AbortSignal,
): Promise<string> {
  const output = new CellOutput(limit)
  for (const part of parts) {
    const ref = refOf(part)
    if (ref !== undefined && ref.bytes > wholeBytes) output.add(await values.excerpt(part, limit, neededBy, signal))
    else output.add(textOfJson(await values.load(part, neededBy, signal)))
  }
  if (after === '') return output.text
  return [output.text.trimEnd(), after].filter((piece) => piece !== '').join('\n')
}

const neededBy = 'what the model is to read'
