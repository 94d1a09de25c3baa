import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { PtcError } from '../../common/errors.js'
import type { Script } from '../../testing/scripted-messages-api/script/script.js'

const folder = fileURLToPath(new URL('../../../examples/team-expenses', import.meta.url))

/** The team-expense example of a checkout; the npm package does not contain it. */
interface Example {
  readonly configFile: string
  readonly question: string
  /** The replies of the scripted model. */
  readonly script: Script
}

function hasExample(): boolean {
  return existsSync(join(folder, 'ptc.config.ts'))
}

/** @throws PtcError CONFIG_NOT_FOUND */
export async function loadExample(): Promise<Example> {
  if (!hasExample()) {
    throw new PtcError('CONFIG_NOT_FOUND', 'the demo is part of the source, not of the package', {
      hint: 'Clone the repository and run `npm run demo` there.',
    })
  }
  // TypeScript outside of src, loaded like a configuration. The package does not contain it.
  const jiti = createJiti(folder, { moduleCache: true })
  const { question } = await jiti.import<{ readonly question: string }>(join(folder, 'question.ts'))
  const { script } = await jiti.import<{ readonly script: Script }>(join(folder, 'script.ts'))
  return { configFile: join(folder, 'ptc.config.ts'), question, script }
}
