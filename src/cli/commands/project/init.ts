import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { Command } from 'commander'
import { print } from '../../process/stdio.js'

export function initCommand(): Command {
  return new Command('init')
    .description('write a project: a configuration with one tool, .gitignore and .env.example')
    .argument('[folder]', 'where; made if it does not exist', '.')
    .addHelpText(
      'after',
      `
Never overwrites a file. Writes a package.json only if there is none.
The project runs without an API key: a scripted model replies, and each run says so.

Example:
  ptc init expenses`,
    )
    .action(runInit)
}

async function runInit(folder: string): Promise<void> {
  const { createProject } = await import('../../init/create-project.js')
  const { exampleQuestion } = await import('../../init/project-files.js')
  const { written, hasNewPackageFile } = await createProject(folder)
  const path = relative(process.cwd(), resolve(folder))
  const steps = [
    ...(path === '' ? [] : [`cd ${quote(path)}`]),
    ...(isInstalled(resolve(folder)) ? [] : [hasNewPackageFile ? 'npm install' : 'npm install durable-ptc zod']),
    `npx ptc run "${exampleQuestion}"`,
  ]
  print(
    [
      ...written.map((name) => `wrote ${join(path, name)}`),
      '',
      'Next:',
      ...steps.map((step) => `  ${step}`),
      '',
      'Without an API key a scripted model replies, and each run says so. For a real model copy .env.example to .env',
      'and set ANTHROPIC_API_KEY there.',
    ].join('\n'),
  )
}

/** Whether the packages of the configuration are installed. */
function isInstalled(folder: string): boolean {
  const { resolve: find } = createRequire(join(folder, 'ptc.config.ts'))
  return ['durable-ptc/package.json', 'zod'].every((name) => {
    try {
      return find(name) !== ''
    } catch {
      return false
    }
  })
}

/** Quotes a path for a shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
