import { Command } from 'commander'
import type { Check } from '../../doctor/index.js'
import { exitCodes } from '../../process/exit-code.js'
import { createColors, supportsColor } from '../../rendering/text/colors.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'
import { print, printStyled } from '../../process/stdio.js'

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check everything a run needs, and say how to fix what is missing')
    .addOption(configOption())
    .addOption(jsonOption('an array of checks'))
    .addHelpText('after', '\nExit code 1: a check that runs depend on has failed.')
    .action(runDoctor)
}

async function runDoctor({ config, json }: ConfigOption & JsonOption): Promise<void> {
  const { runChecks } = await import('../../doctor/index.js')
  const { findStateDirectory } = await import('../../environment/project.js')
  const onCheck = (check: Check): void => {
    if (json !== true) printStyled(formatCheck(check))
  }
  const checks = await runChecks({ config, stateDirectory: findStateDirectory(), onCheck })
  if (json === true) print(JSON.stringify(checks, null, 2))
  if (checks.some(({ status }) => status === 'error')) process.exitCode = exitCodes.failed
}

const statusLabels = { ok: 'ok   ', warning: 'warn ', error: 'error' } as const
const statusStyles = { ok: 'green', warning: 'yellow', error: 'red' } as const

/** The lines of a check for people. Each line of a message after the first is an item of a list. */
export function formatCheck({ name, status, message, remedy }: Check): string {
  const colors = createColors(supportsColor(process.stdout))
  const indent = ' '.repeat(6)
  const lines = message.split('\n').map((line, index) => (index === 0 ? line : `${indent}- ${line.replace(/^- /, '')}`))
  const remedyLines = (remedy ?? '').split('\n').filter((line) => line !== '')
  return [
    `${colors[statusStyles[status]](statusLabels[status])} ${colors.bold(name)}: ${lines.join('\n')}`,
    ...remedyLines.map((line) => `${indent}→ ${line}`),
  ].join('\n')
}
