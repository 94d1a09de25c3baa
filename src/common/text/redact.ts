/** Describes a text that durable-ptc writes where people read it. */
export interface RedactedText {
  /**
   * - `arguments`: one line about a call, with its arguments: activity summaries, current details, heartbeat details
   * - `output`: the end of the output of code, in heartbeat details
   * - `code`: the code of a cell, in the audit log
   * - `question`: the question or program of a run: summary, details and memo
   * - `error`: message or stack of an error, in the log of `ptc worker`
   */
  readonly kind: 'arguments' | 'output' | 'code' | 'question' | 'error'
  /** Name of the tool. Set only for `arguments`. */
  readonly tool?: string
}

/** Returns the text that people may see. */
export type Redact = (text: string, about: RedactedText) => string

/** Replaces a text that a hook could not redact. */
const failedText = '[not redacted: the hook failed]'

/** Returns the hook without its errors: after a failure, the text is left out, and the caller continues. */
export function safeRedact(hook: Redact): Redact {
  return (text, about) => {
    try {
      const redacted: unknown = hook(text, about)
      return typeof redacted === 'string' ? redacted : failedText
    } catch {
      return failedText
    }
  }
}

/** The hook of a configuration without one. */
export const unredacted: Redact = (text) => text
