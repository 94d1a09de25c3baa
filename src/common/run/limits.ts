/** The limits of a run that the configuration, an agent or a run may change. */
export interface Limits {
  /**
   * Model turns of a run. A run that needs more ends with status `turn_limit`. In mode `plan`, the limit applies to the
   * planning, to each step, and to the answer.
   */
  readonly turns: number
  /** Tool calls of one cell. One more is refused, and ends the cell. */
  readonly callsPerCell: number
  /** Tool calls of a whole run, including direct calls. */
  readonly callsPerRun: number
  /** Concurrent tool activities of a run; further calls are queued. */
  readonly callsInFlight: number
  /** Seconds a cell's code may run. Waiting for tools is not counted. */
  readonly cellSeconds: number
  /** Seconds a cell may take in total. Waiting for tools and timers is counted, waiting for deferred calls is not. */
  readonly cellTotalSeconds: number
  /** Characters of printed output that the model gets; the middle is omitted. */
  readonly outputCharacters: number
  /** Bytes of one tool call's arguments, as JSON. */
  readonly argumentBytes: number
  /** Bytes of one tool result, as JSON. A large result is stored externally, and streamed into the sandbox. */
  readonly resultBytes: number
  /**
   * Bytes of arguments, results, output and journal that a run or a named session may write to the value store. At the
   * limit no further cell or call starts. Snapshots have a separate limit of the same size.
   */
  readonly storedBytes: number
  /** Bytes of one cell's source. */
  readonly sourceBytes: number
  /** Memory of a sandbox in bytes. */
  readonly memoryBytes: number
  /** CPUs of a sandbox. */
  readonly cpus: number
  /** Processes and threads of a sandbox. */
  readonly processes: number
  /** Bytes of the sandbox's only writable folder, /tmp. One file may use all of them. */
  readonly tmpBytes: number
}

/** Fixed limits that a test lowers to reach them soon. Undefined: the constant beside the code that enforces the limit. */
export interface LoweredLimits {
  readonly historyEvents?: number
  readonly wakesPerCell?: number
  readonly deferredCalls?: number
  readonly compensations?: number
  readonly sessionExecutions?: number
}

/** Executions of a named session. A Temporal workflow takes 2,000 updates. */
export const maxSessionExecutions = 1_000

/**
 * Characters of a cell's printed output that are kept for people and tools; the middle is omitted. More than a few
 * kilobytes are kept in the value store.
 */
export const capturedCharacters = 1_000_000

/**
 * Characters of printed output in the result of a program's cell: in a payload of the history, of which Temporal refuses
 * those over 2 MiB.
 */
export const resultCharacters = 200_000

/** The limits sent with every step. Few, because each step's event in the history contains them. */
export type StepLimits = Pick<Limits, 'cellSeconds' | 'callsPerCell' | 'argumentBytes' | 'memoryBytes'>

export function pickStepLimits({ cellSeconds, callsPerCell, argumentBytes, memoryBytes }: Limits): StepLimits {
  return { cellSeconds, callsPerCell, argumentBytes, memoryBytes }
}

/** The defaults of the configuration. */
export const defaultLimits: Limits = {
  turns: 25,
  callsPerCell: 1_000,
  callsPerRun: 5_000,
  callsInFlight: 200,
  cellSeconds: 90,
  cellTotalSeconds: 24 * 60 * 60,
  outputCharacters: 20_000,
  argumentBytes: 256 * 1024,
  resultBytes: 64 * 1024 * 1024,
  storedBytes: 1024 * 1024 * 1024,
  sourceBytes: 256 * 1024,
  memoryBytes: 256 * 1024 * 1024,
  cpus: 1,
  processes: 64,
  tmpBytes: 64 * 1024 * 1024,
}
