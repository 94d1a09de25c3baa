import { Command } from 'commander'
import picocolors from 'picocolors'
import type { Check } from '../../../worker/doctor/index.js'
import { exitCodes } from '../exit-code.js'
import { wantsColor } from '../../render/colors.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'
import { print, printDrawn } from '../terminal.js'

/** `ptc doctor`: what is missing, what is too old, what to do. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('look at everything a run needs, and say what to do about what is missing')
    .addOption(configOption())
    .addOption(jsonOption('an array of checks'))
    .addHelpText('after', '\nExit code 1 when something is wrong that keeps runs from working.')
    .action(examineAll)
}

async function examineAll({ config, json }: ConfigOption & JsonOption): Promise<void> {
  const { examine } = await import('../../../worker/doctor/index.js')
  const { stateDirectory } = await import('../project.js')
  const { checkWorkers } = await import('../check-workers.js')
  const found = await Promise.all([examine({ config, stateDirectory: stateDirectory() }), checkWorkers(config)])
  const checks = found.flat()
  if (json === true) print(JSON.stringify(checks, null, 2))
  else printDrawn(checks.map(formatCheck).join('\n'))
  if (checks.some(({ status }) => status === 'error')) process.exitCode = exitCodes.failed
}

const words = { ok: 'ok   ', warning: 'warn ', error: 'error' } as const
const styles = { ok: 'green', warning: 'yellow', error: 'red' } as const

function formatCheck({ name, status, message, remedy }: Check): string {
  const colors = picocolors.createColors(wantsColor(process.stdout, process.env))
  const indent = ' '.repeat(6)
  const lines = message.split('\n').map((line, place) => (place === 0 ? line : `${indent}- ${line}`))
  const todo = (remedy ?? '').split('\n').filter((line) => line !== '')
  return [
    `${colors[styles[status]](words[status])} ${colors.bold(name)}: ${lines.join('\n')}`,
    ...todo.map((line) => `${indent}→ ${line}`),
  ].join('\n')
}
