import { waitForAbort } from '../../common/async/abort.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import { loadExample, prepareDemoModel } from './index.js'
import { renderBoxTable, supportsColor } from '../rendering/index.js'
import { summaryRows } from './run-summary.js'
import { connectEnvironment } from '../environment/environment.js'
import { loadProject } from '../environment/project.js'
import { resolveServerWithUi } from '../environment/server.js'
import { DisposableStack } from '../../common/async/disposable-stack.js'
import { exitCodes } from '../process/exit-code.js'
import { printRunLink, followRun } from '../run/follow-run.js'
import { listenForInterrupts } from '../process/interrupts.js'
import { printRunEnding } from '../run/print-run-ending.js'
import { printStyled, printStatus } from '../process/stdio.js'

/** Not the queue of a project: another worker of this folder does not have the example's tools. */
const taskQueue = 'durable-ptc-demo'

/** Asks the team-expense question and prints the figures of the run; returns the exit code. */
export async function runDemo(sandbox: BackendChoice | undefined): Promise<number> {
  using interrupts = listenForInterrupts()
  const example = await loadExample()
  const model = await prepareDemoModel(example.script)
  await using stack = new DisposableStack()
  stack.defer(() => model.close())
  const project = await loadProject(example.configFile, taskQueue)
  const server = await resolveServerWithUi(project, { signal: interrupts.first })
  printStatus(model.notice)
  await using environment = await connectEnvironment({
    project,
    server,
    startsWorker: true,
    sandbox,
    modelApi: model.scriptedApi,
    interrupts,
  })
  const handle = await environment.ptc.startAgent({ question: example.question })
  printStatus(`\n${example.question}\n`)
  printRunLink(handle, environment)
  const ending = await followRun(handle, { environment, interrupts, onInterrupt: 'cancel' })
  printStatus('')
  const exitCode = printRunEnding(ending, false)
  if (exitCode !== exitCodes.ok) return exitCode
  const width = process.stdout.isTTY ? process.stdout.columns : 80
  const rows = summaryRows(ending.tree).map(
    ([name, value]) => [model.scriptedApi !== undefined && name === 'cost' ? scriptedCostLabel : name, value] as const,
  )
  printStyled(`\n${renderBoxTable(rows, { width, color: supportsColor(process.stdout, process.env) })}`)
  if (!environment.ownsServer) return exitCode
  if (process.stdin.isTTY && process.stdout.isTTY) {
    printStatus('\nThe Temporal UI stays up for a look at the run; Ctrl-C ends the demo.')
    await Promise.race([waitForAbort(interrupts.first), environment.unexpectedExit])
  }
  printStatus('\nThe server ends with the demo. `ptc dev` brings it back, and the run with it, in the same folder.')
  return exitCode
}

/** The script is free; the cost is that of the model it replaces. */
const scriptedCostLabel = 'cost with the real model (the script is free)'
