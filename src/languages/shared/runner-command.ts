import type { Language } from '../language.js'

/** The folder of the image with the supervisor, and with the folders of the runners. */
export const installFolder = '/opt/durable-ptc'

/** The command that starts the runner of a language in a sandbox. */
export function runnerCommand({ name, runner }: Pick<Language, 'name' | 'runner'>): readonly string[] {
  const { interpreter, folder = name, entry, arguments: others = [] } = runner
  return [...interpreter, `${installFolder}/${folder}/${entry}`, ...others]
}
