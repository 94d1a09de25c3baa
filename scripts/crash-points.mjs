// What is shipped has no crash points: not switched off, but not there.
import { stop } from './setup.mjs'

const call = /^[ \t]*crashPoint\('[a-z]+\.[a-z]+'\);$/gm
const imported = /^import \{ crashPoint \} from '[./a-z]+\/crash-point\.js';$/gm

/** Where they are declared; of no use without them. */
export const crashPointSource = 'common/crash-point.ts'

/** A compiled file without its crash points. Lines stay where they are, so that source maps hold. */
export function withoutCrashPoints(text, path) {
  const shipped = text.replace(call, '').replace(imported, '')
  if (shipped.includes('crashPoint')) stop(`${path}: a crash point is a statement on a line of its own.`)
  return shipped
}
