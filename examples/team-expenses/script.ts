import { readFileSync } from 'node:fs'
import type { ScriptedTurn } from 'durable-ptc/testing'

/**
 * Turns of the scripted model, used without an API key. Its program is `program.py`. The last turn quotes the output of
 * the code, so a wrong result gives a wrong answer.
 */
export const script = JSON.parse(
  readFileSync(new URL('scripted-model.json', import.meta.url), 'utf8'),
) as readonly ScriptedTurn[]
