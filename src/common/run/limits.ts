/** All limits of a run. {@link defaultLimits} has the defaults; the configuration may change each. */
export interface Limits {
  /**
   * Model turns of a run. A run that needs more ends with status `turn_limit`. In mode `plan`, the limit applies to the
   * planning, to each step, and to the answer.
   */
  readonly turns: number
  /**
   * Answers of an agent that do not match its output schema, including texts in place of an answer. After the last one
   * the run ends with status `invalid_answer`.
   */
  readonly answerAttempts: number
  /** Steps of a plan. The model is asked for another plan when it has more. */
  readonly planSteps: number
  /** Tool calls of one cell. One more is refused, and ends the cell. */
  readonly callsPerCell: number
  /** Tool calls of a whole run, including direct calls. */
  readonly callsPerRun: number
  /** Concurrent tool activities of a run; further calls are queued. */
  readonly callsInFlight: number
  /** Deferred calls of a run that wait at once. One more is refused. */
  readonly deferredCalls: number
  /**
   * Calls of a run that may have to be compensated. One more is refused. In a conversation, the limit applies to one
   * message.
   */
  readonly compensations: number
  /** Seconds a cell's code may run. Waiting for tools is not counted. */
  readonly cellSeconds: number
  /** Seconds a cell may take in total. Waiting for tools and timers is counted, waiting for deferred calls is not. */
  readonly cellTotalSeconds: number
  /** History events after which a run continues as new; it does so earlier if Temporal suggests it. */
  readonly historyEvents: number
  /**
   * Number of times that only a timer continues a cell. Each is a durable step, and the length of a history is limited.
   */
  readonly wakesPerCell: number
  /** Characters of printed output that the model gets; the middle is omitted. */
  readonly outputCharacters: number
  /** Characters of a cell's printed output that the history keeps for its readers; the middle is omitted. */
  readonly capturedCharacters: number
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
  /** Bytes of one protocol frame between host and sandbox; under 16 MiB. */
  readonly frameBytes: number
  /** Memory of a sandbox in bytes. */
  readonly memoryBytes: number
  /** CPUs of a sandbox. */
  readonly cpus: number
  /** Processes and threads of a sandbox. */
  readonly processes: number
  /** Bytes of the sandbox's only writable folder, /tmp. */
  readonly tmpBytes: number
  /** Files in /tmp. */
  readonly tmpInodes: number
  /** Bytes of one file. */
  readonly fileBytes: number
  /** Open files of one process. */
  readonly openFiles: number
}

/** The limits sent with every step. Few, because each step's event in the history contains them. */
export type StepLimits = Pick<
  Limits,
  'cellSeconds' | 'callsPerCell' | 'capturedCharacters' | 'frameBytes' | 'argumentBytes' | 'memoryBytes'
>

export function pickStepLimits(limits: Limits): StepLimits {
  const { cellSeconds, callsPerCell, capturedCharacters, frameBytes, argumentBytes, memoryBytes } = limits
  return { cellSeconds, callsPerCell, capturedCharacters, frameBytes, argumentBytes, memoryBytes }
}

export const defaultLimits: Limits = {
  turns: 25,
  answerAttempts: 3,
  planSteps: 20,
  callsPerCell: 1_000,
  callsPerRun: 5_000,
  callsInFlight: 200,
  deferredCalls: 1_000,
  compensations: 1_000,
  cellSeconds: 90,
  cellTotalSeconds: 24 * 60 * 60,
  historyEvents: 4_000,
  wakesPerCell: 1_000,
  outputCharacters: 20_000,
  capturedCharacters: 200_000,
  argumentBytes: 256 * 1024,
  resultBytes: 64 * 1024 * 1024,
  storedBytes: 1024 * 1024 * 1024,
  sourceBytes: 256 * 1024,
  frameBytes: 8 * 1024 * 1024,
  memoryBytes: 256 * 1024 * 1024,
  cpus: 1,
  processes: 64,
  tmpBytes: 64 * 1024 * 1024,
  tmpInodes: 4_096,
  fileBytes: 64 * 1024 * 1024,
  openFiles: 1_024,
}
