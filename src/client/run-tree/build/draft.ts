import type { LostFile, StoredFile } from '../../../common/files/files.js'
import type { CellMeasures } from '../../../common/calls/outcomes.js'
import type { TextRange } from '../../../common/text/text-ranges.js'
import type { Externalizable } from '../../../common/json/external-value.js'
import type { CodeToolUse } from '../history/content-blocks.js'
import type { DeliveredOutcome, DescribedCall, RunConfig, RunState } from '../history/payload-schemas.js'
import type { ActivityRecord } from '../history/activity-record.js'
import type { CellNode, CellOwner } from '../tree.js'
import type { ActivityResult, DecisionInput } from '../history/activity-payloads.js'

/** What the tree knows of the tools, by name. */
export type RunTools = ReadonlyMap<string, RunConfig['tools'][number]>

export function toolsOf({ tools }: Pick<RunConfig, 'tools'>): RunTools {
  return new Map(tools.map((tool) => [tool.name, tool]))
}

/** A run during the ordered replay of its activities. */
export interface RunDraft {
  readonly turns: TurnDraft[]
  /** All cells by their number in the run. */
  readonly cells: Map<number, CellDraft>
  /** Number of cells in executions that the server no longer has. */
  readonly earlierCells: number
  backend: string | undefined
  sandbox: string | undefined
  model: string | undefined
  tools: RunTools
  /** The files of the run by path, in the order in which they came. */
  readonly files: Map<string, StoredFile>
  /** Uploads that could not be written before the next cell. */
  lostUploads: readonly LostFile[]
  readonly compactions: ActivityRecord[]
  /** Replies to services of tools. */
  readonly samplings: ActivityRecord[]
  /** Number of rebuilds between two cells. They count for the next cell, and so do `wakes`. */
  rebuilds: number
  wakes: number
}

export interface TurnDraft {
  readonly number: number
  readonly model: ActivityRecord | undefined
  readonly cells: CellDraft[]
  readonly directCalls: Map<number, CallDraft>
  /** Cells of the reply that have not started. */
  pendingCells: readonly CodeToolUse[]
}

/** Printed text, with the parts that were printed to stderr. Absent: none. */
export interface PrintedText<Text extends Externalizable<string> = Externalizable<string>> {
  readonly text: Text
  readonly stderr?: readonly TextRange[]
}

export interface CellDraft {
  readonly number: number
  readonly code: Externalizable<string>
  /** Undefined: the first language of the run. */
  readonly language?: string | undefined
  readonly toolUseId: string | undefined
  /** True when Anthropic executes the code of the cell, so that it has no steps. */
  readonly isHosted?: true
  /** The workflow that executes the cell in its session. */
  owner?: CellOwner & { readonly cellId: string }
  readonly startedAt: number
  readonly calls: Map<number, CallDraft>
  /** Numbers of the steps of the cell. A step that is repeated after a rebuild counts once. */
  readonly steps: Set<number>
  endedAt: number | undefined
  status: CellNode['status']
  /** The output of each step. */
  readonly output: PrintedText[]
  /** The output in the run's result, which is truncated for the model. */
  reported: PrintedText<string>
  /** The end of the output of the running step. */
  liveOutput: string
  error: string | undefined
  measures: CellMeasures
  /** The artifacts of the cell. */
  files: readonly StoredFile[]
  /** Its artifacts that could not be kept, and the uploads that could not be written before it. */
  lostFiles: readonly LostFile[]
  rebuilds: number
  wakes: number
  /** Why the sandbox was lost. The cell ends with this reason only if no rebuild follows. */
  lossReason: string | undefined
}

/** A call. It is replaced and never changed, because copies of a run share it. */
export interface CallDraft {
  readonly turn: number
  readonly cell: number
  readonly index: number
  readonly step: number
  readonly createdAt: number
  readonly toolUseId: string | undefined
  readonly described: DescribedCall | undefined
  readonly activity: ActivityRecord | undefined
  /** The activity that requests the approval of the call. */
  readonly approval?: ActivityRecord
  /** The activity that tells people of the last question of the call. */
  readonly question?: ActivityRecord
  /** The last decision on the call. */
  readonly decision?: DecisionInput
  /** The activity that undoes the effect of the call. */
  readonly compensation?: ActivityRecord
  /** The activity that checks the result of a remote tool, or the valid result of a deferred tool. */
  readonly check?: ActivityRecord
  /** The outcome that the caller got. It takes precedence. */
  readonly delivered: DeliveredOutcome | undefined
  /** Time at which the caller got the outcome. */
  readonly deliveredAt?: number
}

/** Returns whether the activity of the call only starts the work, and the result arrives later. */
export function isDeferred({ activity }: Pick<CallDraft, 'activity'>): boolean {
  return activity?.input.type === 'tool' && activity.input.call.deferred !== undefined
}

/** Returns the result of a completed activity; undefined when it could not be read. */
export function resultOf<Type extends ActivityResult['type']>(
  { end }: ActivityRecord,
  type: Type,
): Extract<ActivityResult, { type: Type }> | undefined {
  const result = end?.type === 'completed' ? end.result : undefined
  return result?.type === type ? (result as Extract<ActivityResult, { type: Type }>) : undefined
}

/** @param carriedState state from the executions that the server no longer has */
export function createRunDraft(startedAt: number, carriedState: RunState | undefined): RunDraft {
  const run: RunDraft = {
    turns: [],
    cells: new Map(),
    earlierCells: carriedState?.counts.cells ?? 0,
    backend: carriedState?.codeRuntime?.session.sandbox.ref.backend ?? carriedState?.config.backend,
    sandbox: undefined,
    model: carriedState?.config.model.name,
    tools: carriedState ? toolsOf(carriedState.config) : new Map(),
    files: new Map(),
    lostUploads: [],
    compactions: [],
    samplings: [],
    rebuilds: 0,
    wakes: 0,
  }
  if (!carriedState) return run
  const { uploads = [], returned = [], artifacts = [] } = carriedState.files ?? {}
  addFiles(run, [...uploads, ...returned.map(({ file }) => file), ...artifacts])
  const suspendedCell = carriedState.cell ?? carriedState.suspendedCell?.cell
  const turn = emptyTurn(suspendedCell?.turn ?? carriedState.counts.turns)
  run.turns.push(turn)
  if (!suspendedCell) return run
  const cell = emptyCell(suspendedCell.number, '', startedAt)
  run.cells.set(suspendedCell.number, cell)
  turn.cells.push(cell)
  return run
}

/** Adds files to a run. A file of the same path is replaced. */
export function addFiles({ files: byPath }: RunDraft, files: readonly StoredFile[]): void {
  for (const file of files) {
    byPath.delete(file.path)
    byPath.set(file.path, file)
  }
}

/** Returns a copy. Changes of the copy do not change the original. */
export function copyRunDraft(run: RunDraft): RunDraft {
  const copies = new Map([...run.cells].map(([number, cell]) => [number, copyCell(cell)]))
  const turns = run.turns.map((turn) => ({
    ...turn,
    cells: turn.cells.map((cell) => copies.get(cell.number) ?? copyCell(cell)),
    directCalls: new Map(turn.directCalls),
  }))
  return {
    ...run,
    turns,
    cells: copies,
    files: new Map(run.files),
    compactions: [...run.compactions],
    samplings: [...run.samplings],
  }
}

function copyCell(cell: CellDraft): CellDraft {
  return { ...cell, calls: new Map(cell.calls), steps: new Set(cell.steps), output: [...cell.output] }
}

export function emptyTurn(number: number): TurnDraft {
  return { number, model: undefined, cells: [], directCalls: new Map(), pendingCells: [] }
}

export function emptyCell(number: number, code: Externalizable<string>, startedAt: number): CellDraft {
  return {
    number,
    code,
    toolUseId: undefined,
    startedAt,
    calls: new Map(),
    steps: new Set(),
    endedAt: undefined,
    status: 'running',
    output: [],
    reported: { text: '' },
    liveOutput: '',
    error: undefined,
    measures: {},
    files: [],
    lostFiles: [],
    rebuilds: 0,
    wakes: 0,
    lossReason: undefined,
  }
}
