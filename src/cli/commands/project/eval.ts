import { Command, InvalidArgumentError, Option } from 'commander'
import type { EvalCommandOptions } from '../../eval/run-eval-command.js'
import { print, printStatus, printStyled } from '../../process/stdio.js'
import { stdoutLayout } from '../../rendering/text/colors.js'
import { configOption, integerUpTo, jsonOption, sandboxOption } from '../options.js'

interface StoredOptions {
  readonly results?: string
  readonly json?: boolean
}

/** `ptc eval`, and its subcommands, which read results. */
export function evalCommand(): Command {
  return new Command('eval')
    .description('run tasks against models, and compare their results')
    .argument('[paths...]', 'files or folders of tasks')
    .addOption(new Option('--shipped', 'also the tasks of this package'))
    .addOption(new Option('--only <names>', 'only these tasks: a,b').argParser(parseNames))
    .addOption(
      new Option(
        '-m, --model <name>',
        'PROVIDER/MODEL, or scripted; may be repeated (default: as configured)',
      ).argParser(appendName),
    )
    .addOption(
      new Option('--system <file>', 'instructions that replace those of the tasks; may be repeated').argParser(
        appendName,
      ),
    )
    .addOption(new Option('-k, --repeat <number>', 'samples of each task').argParser(integerUpTo(1_000)).default(1))
    .addOption(new Option('--concurrency <number>', 'samples that run at once').argParser(integerUpTo(64)).default(4))
    .addOption(
      new Option('--retries <number>', 'further attempts after an error that is not of the model')
        .argParser(parseRetries)
        .default(1),
    )
    .addOption(new Option('--max-cost <usd>', 'US dollars of the whole eval').argParser(parsePositive))
    .addOption(new Option('--judge-model <name>', 'model of the judges'))
    .addOption(new Option('--label <text>', 'a name for the tested version, in tables'))
    .addOption(new Option('--new', 'begin a new eval, also when an interrupted one could continue'))
    .addOption(
      new Option('--min-pass-rate <rate>', 'lowest rate for exit code 0, from 0 to 1').argParser(parseRate).default(1),
    )
    .addOption(resultsOption())
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(jsonOption('the results'))
    .addHelpText(
      'after',
      `
Results are in .ptc/evals.db. The same command continues an eval that was interrupted.

Examples:
  ptc eval --shipped --model scripted
  ptc eval evals/ --model claude-sonnet-5-5 --model openai/gpt-5.6 --repeat 5 --max-cost 10
  ptc eval compare 3f9a1c 81be07`,
    )
    .action(async (paths: readonly string[], options: EvalCommandOptions) => {
      const { runEvalCommand } = await import('../../eval/run-eval-command.js')
      process.exitCode = await runEvalCommand(paths, options)
    })
    .addCommand(
      stored('list', 'list evals, newest first', 'an array of evals')
        .addOption(
          new Option('-n, --limit <number>', 'maximum number of evals').argParser(integerUpTo(10_000)).default(20),
        )
        .action(async (_: unknown, command: Command) => list(command.optsWithGlobals())),
    )
    .addCommand(
      stored('show', 'show the results of an eval', 'the results')
        .argument('<eval>', 'the eval, as `ptc eval list` shows it; its beginning is enough')
        .action(async (id: string, _: unknown, command: Command) => show(id, command.optsWithGlobals())),
    )
    .addCommand(
      stored('compare', 'compare two evals, or two models of one', 'the comparison')
        .argument('<first>', 'an eval, or EVAL/NUMBER for one of its models, from 1')
        .argument('<second>', 'the same')
        .action(async (first: string, second: string, _: unknown, command: Command) =>
          compare([first, second], command.optsWithGlobals()),
        ),
    )
}

function stored(name: string, description: string, json: string): Command {
  return new Command(name).description(description).addOption(resultsOption()).addOption(jsonOption(json))
}

function resultsOption(): Option {
  return new Option('--results <file>', 'database of results (default: .ptc/evals.db)')
}

async function list({ results, json, limit }: StoredOptions & { readonly limit: number }): Promise<void> {
  const { listEvals, renderEvalList } = await import('../../eval/stored-evals.js')
  const evals = await listEvals(results, limit)
  if (json === true) return print(JSON.stringify(evals, null, 2))
  if (evals.length === 0) return printStatus('no evals yet')
  printStyled(renderEvalList(evals, stdoutLayout().width))
}

async function show(id: string, { results, json }: StoredOptions): Promise<void> {
  const { readEval } = await import('../../eval/stored-evals.js')
  const { renderEval } = await import('../../eval/render-eval.js')
  const { summary, samples } = await readEval(results, id)
  if (json === true) print(JSON.stringify({ ...summary, samples }, null, 2))
  else printStyled(renderEval(summary, stdoutLayout()))
}

async function compare([first, second]: readonly [string, string], { results, json }: StoredOptions): Promise<void> {
  const { compareEvals } = await import('../../eval/stored-evals.js')
  const { renderComparison } = await import('../../eval/render-eval.js')
  const comparison = await compareEvals(results, first, second)
  if (json === true) print(JSON.stringify(comparison, null, 2))
  else printStyled(renderComparison(comparison, stdoutLayout()))
}

function parseNames(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim())
}

function appendName(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text]
}

function parseRetries(text: string): number {
  if (/^\d$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0 to 9.')
}

function parsePositive(text: string): number {
  const value = Number(text)
  if (/^[\d.]+$/.test(text) && value > 0) return value
  throw new InvalidArgumentError('It must be a number above 0.')
}

function parseRate(text: string): number {
  const value = Number(text)
  if (/^[\d.]+$/.test(text) && value >= 0 && value <= 1) return value
  throw new InvalidArgumentError('It must be a number from 0 to 1.')
}
