import { codeCallerOf } from '../../common/agent/hosted-code.js'
import type { PendingBlock, TextParts, ToolUseBlock } from '../../common/agent/messages.js'
import {
  activateSkillTool,
  deactivateSkillTool,
  executeCodeTool,
  readMoreTool,
  searchToolsTool,
  shareFileTool,
  taskTools,
} from '../../common/names.js'
import { isToolFile } from '../../common/files/files.js'
import { codeLanguagesOf, executeCommandTool, isEnvironmentTool, runCodeTool } from '../../common/run/environment.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { type Externalizable, externalValue, isExternal, refOf } from '../../common/json/external-value.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import { executeCall } from '../calls/pipeline.js'
import { RunCall } from '../calls/run-call.js'
import { problemOfCellLanguage } from '../cell/cell-language.js'
import { hasText, toCommandResult, toToolResultText } from '../cell/cell-result.js'
import type { CellState, CodeRuntime } from '../cell/code-runtime.js'
import { resumeCell, runCell } from '../cell/run-cell.js'
import type { ValueLog } from '../../common/json/value-log.js'
import { describeAllowed } from '../run/active-skills.js'
import { showProgress } from '../run/progress.js'
import type { Run } from '../run/run.js'
import type { EngineToolResult } from '../../common/agent/model-turn.js'
import { hasToolSearch, type RunConfig } from '../../common/run/run-config.js'
import { outputFolder } from '../../common/files/files.js'
import { pathInRun } from '../../common/session/held-sessions.js'
import { truncateEnd } from '../../common/text/text.js'
import type { Interruption } from '../temporal/interruption.js'
import { readMore, searchTools } from '../temporal/model-activities.js'
import type { SharedSessions } from '../shared-session/shared-sessions.js'
import { documentedToolSet } from './turn-request.js'
import { executeHostedCall } from './hosted/execute-hosted-call.js'
import type { HostedCallPosition } from './hosted/hosted-code.js'
import { outcomeText, toolResult } from './tool-result.js'

export interface PendingToolUses {
  readonly toolUses: readonly ToolUseBlock[]
  /** Direct calls by tool_use id. */
  readonly calls: Readonly<Record<string, DescribedCall>>
  /** The results so far by tool_use id. */
  readonly results: Record<string, PendingBlock>
  /** The positions of calls by hosted code, by tool_use id. Absent: there are none. */
  readonly hostedCalls?: Readonly<Record<string, HostedCallPosition>>
  /** Id of the tool_use with the cell that started last; absent before the first cell. */
  currentCell?: string
}

/** A cell that waited when the run continued as new. */
export interface SuspendedCell {
  readonly toolUseId: string
  readonly cell: CellState
}

/**
 * Returns the tool results for submissions that were not accepted.
 *
 * @param problem for the model
 */
export function rejectSubmissions(uses: readonly ToolUseBlock[], problem: string): Record<string, PendingBlock> {
  const submissions = uses.filter(({ name }) => taskTools.includes(name))
  return Object.fromEntries(submissions.map((use) => [use.id, toolResult(use, problem, true)]))
}

/** What the execution of tool uses needs, apart from the tool uses. */
interface ToolUseContext {
  readonly runtime: CodeRuntime
  /** The sessions of other workflows that execute code. The session of the runtime executes the rest. */
  readonly shared: SharedSessions
  /** Ends the direct calls, and lets no other cell start. The session interrupts the cell in progress. */
  readonly interruption: Interruption
  /** The messages with the results that `read_more` reads. */
  readonly history: ValueLog | null
}

/**
 * Executes every tool_use that has no result, and returns one tool_result for each, in the same order. Direct calls run
 * in parallel. Cells share one session and run one after the other, in parallel with the direct calls.
 *
 * @param suspended the cell to continue
 */
export async function executeToolUses(
  context: ToolUseContext,
  pending: PendingToolUses,
  suspended: SuspendedCell | undefined,
): Promise<PendingBlock[]> {
  const { runtime, interruption } = context
  const { run, queue } = runtime
  const { toolUses, results } = pending
  const hasCells = !run.isHosted && !run.config.isPlain
  const isCell = ({ name }: ToolUseBlock) => name === executeCodeTool && hasCells
  const isSkillUse = ({ name }: ToolUseBlock) =>
    run.skills.hasTools && (name === activateSkillTool || name === deactivateSkillTool)
  const changeSkills = (tool: string): void => {
    for (const use of toolUses) if (isSkillUse(use) && use.name === tool) results[use.id] ??= changeSkill(run, use)
  }
  const isSharing = ({ name }: ToolUseBlock) => name === shareFileTool && canShareFiles(run.config)
  const executeCells = async (): Promise<void> => {
    for (const use of toolUses.filter((each) => isCell(each) || isSharing(each))) {
      results[use.id] ??= await queue.run(async () => {
        if (interruption.isRequested) return toolResult(use, notStarted, true)
        if (isSharing(use)) return shareFile(run, context.shared, use)
        pending.currentCell = use.id
        return executeCode(context, use, suspended?.toolUseId === use.id ? suspended.cell : undefined)
      })
    }
  }
  const executeOther = async (use: ToolUseBlock, position: number): Promise<void> => {
    if (isCell(use) || isSharing(use) || isSkillUse(use) || results[use.id]) return
    const record = (block: PendingBlock): PendingBlock => (results[use.id] = block)
    const work =
      requestEngineTool(context, use) ?? (() => executeToolCall(context, pending, { use, index: position + 1, record }))
    const block = await interruption.runCancellable(work)
    results[use.id] = block === 'interrupted' ? record(toolResult(use, interrupted, true)) : block
  }
  changeSkills(activateSkillTool)
  if (!toolUses.some(isCell)) showProgress(run, { type: 'direct_calls' })
  await Promise.all([executeCells(), ...toolUses.map(executeOther)])
  changeSkills(deactivateSkillTool)
  return toolUses.flatMap(({ id }) => results[id] ?? [])
}

const notStarted = '[stopped] a person interrupted the work before this code started'
const interrupted = '[stopped] a person interrupted the work during this call; its effect may have happened'

async function executeCode(
  { runtime, shared }: ToolUseContext,
  use: ToolUseBlock,
  suspended: CellState | undefined,
): Promise<PendingBlock> {
  const named = use.input['tool']
  const tool = isEnvironmentTool(named) ? named : executeCodeTool
  const session = sessionInInput(use)
  const sharedSession = shared.of(session)
  if (session !== undefined && !sharedSession) return toolResult(use, problemOfSession(session, shared.names), true)
  const source = codeOf(use)
  if (source === undefined) return toolResult(use, use.input_problem ?? `${tool} takes {"code": "..."}`, true)
  const language = languageInInput(use)
  const isWritten = tool === executeCodeTool || tool === runCodeTool
  const { language: ofSession } = sharedSession ?? runtime.run.config
  const own = isWritten ? codeLanguagesOf(ofSession).join() : ofSession
  const problem = problemOfCellLanguage({ language: own }, language)
  if (problem !== undefined) return toolResult(use, problem, true)
  const code = { source, language, toolUseId: use.id }
  const describe = tool === executeCommandTool ? toCommandResult : toToolResultText
  if (sharedSession) {
    const { text, isError } = await sharedSession.execute(code, describe)
    return toolResult(use, text, isError)
  }
  const cell = await (suspended ? resumeCell(runtime, suspended) : runCell(runtime, code))
  const { dataFlow } = runtime.calls
  if (hasText(cell)) dataFlow.readOutput(dataFlow.ofSession)
  const { text, isError } = describe(cell)
  return toolResult(use, text, isError)
}

function canShareFiles({ files, heldSessions }: RunConfig): boolean {
  return files !== undefined && heldSessions !== undefined
}

/** Gives an artifact of one sandbox to all of them. This is not a tool call. */
function shareFile({ files, config }: Run, { names }: SharedSessions, use: ToolUseBlock): PendingBlock {
  const session = sessionInInput(use)
  if (session !== undefined && !names.includes(session)) return toolResult(use, problemOfSession(session, names), true)
  const { path } = use.input
  if (typeof path !== 'string')
    return toolResult(use, use.input_problem ?? `${shareFileTool} takes {"path": "..."}`, true)
  const absolute = path.startsWith('/') ? path : `${outputFolder}/${path}`
  // The path of a file of a tool is the same in each sandbox.
  const isOfOutput = session !== undefined && !isToolFile({ path: absolute })
  const shared = files.share(isOfOutput ? pathInRun(session, absolute) : absolute, config.limits.tmpBytes)
  if (typeof shared !== 'string')
    return toolResult(use, `${shared.path} is there for the next code in each sandbox`, false)
  return toolResult(use, `${truncateEnd(absolute, maxPathCharacters)} can't be given: ${shared}`, true)
}

const maxPathCharacters = 200

function codeOf({ input }: ToolUseBlock): Externalizable<string> | undefined {
  const { code } = input
  return typeof code === 'string' || (code !== undefined && isExternal(code)) ? code : undefined
}

/**
 * The name of the session that the model has chosen for a cell. Undefined: the agent's own sandbox. A value that is no
 * text is no name of a session: its code must not run in another sandbox.
 */
export function sessionInInput({ input: { session = null } }: ToolUseBlock): string | undefined {
  if (session === null) return undefined
  return typeof session === 'string' ? session : JSON.stringify(session)
}

function problemOfSession(name: string, names: readonly string[]): string {
  const known = names.length === 0 ? 'leave `session` out' : `only ${names.join(', ')}`
  return `there is no session ${JSON.stringify(truncateEnd(name, maxNameCharacters))} here: ${known}`
}

const maxNameCharacters = 100

function languageInInput({ input }: ToolUseBlock): string | undefined {
  return typeof input['language'] === 'string' ? input['language'] : undefined
}

/**
 * Returns the function that executes a tool of the engine; undefined for other tools. This is not a tool call, so it
 * counts towards no limit and needs no approval.
 */
function requestEngineTool(
  { runtime, history }: ToolUseContext,
  use: ToolUseBlock,
): (() => Promise<PendingBlock>) | undefined {
  const { config } = runtime.run
  const { timeouts, limits } = config
  const limit = limits.outputCharacters
  const toBlock = ({ text, note, isError }: EngineToolResult) =>
    toolResult(use, isError ? note : { parts: [text], limit, suffix: note }, isError)
  if (use.name === readMoreTool && !config.isPlain && history !== null)
    return async () => toBlock(await readMore({ history, input: use.input, limit }, timeouts))
  if (use.name === searchToolsTool && hasToolSearch(config))
    return async () => toBlock(await searchTools({ tools: documentedToolSet(config), input: use.input }, timeouts))
  return undefined
}

/** Activates or deactivates a skill. This is not a tool call. */
function changeSkill({ skills, config }: Run, use: ToolUseBlock): PendingBlock {
  const { name } = use.input
  if (use.name === deactivateSkillTool) {
    const problem = skills.deactivate(name)
    return toolResult(use, problem ?? 'Its instructions no longer apply.', problem !== undefined)
  }
  const activated = skills.activate(name)
  if (typeof activated === 'string') return toolResult(use, activated, true)
  // The API removes old results from the messages without a compaction.
  if (config.compaction?.provider) skills.moveToPrompt()
  const { instructions, allowedTools } = activated
  const suffix = allowedTools === undefined ? '' : `\nWhile this skill is active: ${describeAllowed(activated)}.`
  return toolResult(use, { parts: [instructions], limit: maxInstructions, suffix }, false)
}

/** More than the instructions of a skill have: they are never cut. */
const maxInstructions = 1_000_000

/** A tool use that calls a tool. */
interface ToolCallUse {
  readonly use: ToolUseBlock
  readonly index: number
  /** Records the result before the call gives up its slots. */
  readonly record: (block: PendingBlock) => PendingBlock
}

async function executeToolCall(
  { runtime: { run, calls } }: ToolUseContext,
  { calls: described, hostedCalls = {} }: PendingToolUses,
  { use, index, record }: ToolCallUse,
): Promise<PendingBlock> {
  const call = described[use.id]
  if (codeCallerOf(use) !== undefined)
    return executeHostedCall(calls, { use, call, position: hostedCalls[use.id], record })
  if (!call) return record(toolResult(use, `there is no tool named ${use.name}`, true))
  let block: PendingBlock | undefined
  const toBlock = (outcome: CallOutcome): PendingBlock => {
    // The model sees an image once.
    block ??= toolResult(use, resultText(run, use, outcome), outcome.status !== 'ok')
    return block
  }
  const position = { turn: run.counts.turns, cell: 0, index }
  const onOutcome = (outcome: CallOutcome): void => void record(toBlock(outcome))
  return toBlock(await executeCall(new RunCall(calls, { call, caller: 'direct', position }), onOutcome))
}

/** Returns the result of a direct call for the model. Its images are in the next message. */
function resultText(run: Run, { name }: ToolUseBlock, outcome: CallOutcome): string | TextParts {
  const { outputCharacters: limit } = run.config.limits
  if (outcome.status !== 'ok') return outcomeText(outcome, limit)
  const { file, value } = outcome
  if (file) return run.files.describeReturned(file)
  const ref = refOf(value)
  if (!ref?.images) return outcomeText(outcome, limit)
  const { images, ...text } = ref
  for (const { data } of images.shown) run.addStoredBytes(refOf(data)?.bytes ?? 0)
  return { parts: [externalValue(text)], limit, suffix: run.files.showImages(name, images) }
}
