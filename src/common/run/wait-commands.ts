import type { BudgetItem } from '../budget/budget.js'

/*
 * The commands of `ptc` that let a waiting run continue. The Temporal UI and the command line show them.
 */

/** @param call undefined: no other call of the run waits */
export function approveCommand(run: string, call: string | undefined): string {
  return command('approve', run, call)
}

/** @param call see {@link approveCommand} */
export function denyCommand(run: string, call: string | undefined): string {
  return `${command('deny', run, call)} --reason TEXT`
}

/** @param call see {@link approveCommand} */
export function answerCommand(run: string, call: string | undefined): string {
  return `${command('answer', run, undefined)} TEXT${callOption(call)}`
}

/** @param call see {@link approveCommand} */
export function completeCommand(run: string, call: string | undefined): string {
  return `${command('calls complete', run, undefined)}${callOption(call)} --result JSON`
}

export function budgetCommand(run: string, item: BudgetItem): string {
  return `${command('budget', run, undefined)} --${budgetFlags[item]} NUMBER`
}

/** The option of `ptc budget` for each amount. */
const budgetFlags: Readonly<Record<BudgetItem, string>> = {
  costUsd: 'cost',
  tokens: 'tokens',
  turns: 'turns',
  toolCalls: 'calls',
  seconds: 'seconds',
}

function command(name: string, run: string, call: string | undefined): string {
  return ['ptc', name, shellWord(run), ...(call === undefined ? [] : [call])].join(' ')
}

function callOption(call: string | undefined): string {
  return call === undefined ? '' : ` --call ${call}`
}

/** Quotes an id if it has characters that a shell interprets. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
