/** Every limit of a run. Defaults in {@link defaultLimits}; the configuration may change each. */
export interface Limits {
  /** Model turns of a run; then it ends with what it has, as `turn_limit`. */
  readonly turns: number
  /** Tool calls of one cell; one more is refused, and ends the cell. */
  readonly callsPerCell: number
  /** Tool calls of a whole run, direct ones included. */
  readonly callsPerRun: number
  /** Tool activities of a run under way at once; more wait their turn. */
  readonly callsInFlight: number
  /** Seconds a cell's code may run, waiting for tools not counted. */
  readonly cellSeconds: number
  /** Seconds a cell may take from its beginning to its end, waiting for tools and timers included. */
  readonly cellTotalSeconds: number
  /** Events of history after which a run goes on in a fresh one (continue-as-new), or earlier if Temporal suggests it. */
  readonly historyEvents: number
  /** Times a cell may be woken by nothing but time; each is a durable step, and a history is finite. */
  readonly wakesPerCell: number
  /** Characters of printed output that reach the model; the middle is cut. */
  readonly outputCharacters: number
  /** Characters of a cell's printed output that the history keeps, for people; the middle is cut. */
  readonly capturedCharacters: number
  /** Bytes of one tool call's arguments, as JSON. */
  readonly argumentBytes: number
  /** Bytes of one tool result, as JSON. What is large is kept outside of the history, and streamed into the sandbox. */
  readonly resultBytes: number
  /**
   * Bytes of arguments, results, output and journal that a run, or a named session, may write to the value store; when they
   * are used up, no cell and no call begins. Snapshots may take as much again.
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

/** What whoever drives a sandbox must know at every step: few, since each step's row in the history has them. */
export type StepLimits = Pick<
  Limits,
  'cellSeconds' | 'callsPerCell' | 'capturedCharacters' | 'frameBytes' | 'argumentBytes' | 'memoryBytes'
>

export function stepLimits(limits: Limits): StepLimits {
  const { cellSeconds, callsPerCell, capturedCharacters, frameBytes, argumentBytes, memoryBytes } = limits
  return { cellSeconds, callsPerCell, capturedCharacters, frameBytes, argumentBytes, memoryBytes }
}

export const defaultLimits: Limits = {
  turns: 25,
  callsPerCell: 1_000,
  callsPerRun: 5_000,
  callsInFlight: 200,
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
