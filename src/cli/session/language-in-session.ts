import { PtcError } from '../../common/errors.js'
import { defaultLanguageName } from '../../common/names.js'
import { languageNamesOf } from '../../common/run/language-names.js'
import { problemOfLanguage } from '../../languages/index.js'
import type { Environment } from '../environment/environment.js'

export interface CodeInSession {
  /** Undefined: that of the session, or as configured for a new one. */
  readonly language?: string | undefined
  /** Undefined: the first language of the session. */
  readonly cellLanguage?: string | undefined
  /** Name of the language that people type. */
  readonly typed: string
}

/**
 * The language of code in a session: the language of the session, or one of its languages.
 *
 * @param session its name. Undefined: a new one
 * @param chosen the language that a person has chosen. Undefined: the first of the session
 * @throws PtcError RUN_INPUT_INVALID for an unknown language
 */
export async function languageInSession(
  { ptc, config }: Environment,
  session: string | undefined,
  chosen: string | undefined,
): Promise<CodeInSession> {
  const known = session === undefined ? undefined : await languageOf(ptc, session)
  const own = known ?? config?.language ?? defaultLanguageName
  if (chosen === undefined) return { language: known, typed: own }
  const names = languageNamesOf(own)
  const isOneOfSeveral = names.length > 1 && names.includes(chosen)
  const problem = isOneOfSeveral ? undefined : problemOfLanguage(chosen)
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', problem)
  return { ...(isOneOfSeveral ? { language: own, cellLanguage: chosen } : { language: chosen }), typed: chosen }
}

/** The language of a session that exists. */
async function languageOf({ sessions }: Environment['ptc'], name: string): Promise<string | undefined> {
  try {
    return (await sessions.show(name)).language
  } catch (thrown) {
    // It has not started, or has ended. Any other reason fails the execution, too.
    if (!PtcError.isInstance(thrown)) throw thrown
    return undefined
  }
}
