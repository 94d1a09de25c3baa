interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  readonly help: string
  readonly labels: readonly string[]
}

/** All metrics of the engine. docs/guides/monitoring.md has the same table. */
export const metricTable = {
  ptc_runs_open: {
    kind: 'gauge',
    unit: '1',
    help: 'Runs and sessions of a task queue that have not ended, by status (running, waiting). Sampled.',
    labels: ['task_queue', 'status'],
  },
  ptc_runs_failing: {
    kind: 'gauge',
    unit: '1',
    help: 'Runs and sessions of a task queue whose workflow task has failed five times in a row, as Temporal reports. Sampled.',
    labels: ['task_queue'],
  },
  ptc_task_queue_backlog_age_milliseconds: {
    kind: 'gauge',
    unit: 'ms',
    help: 'Time for which the oldest task of a role has waited for a worker. 0: none waits. Sampled.',
    labels: ['task_queue', 'role'],
  },
  ptc_tool_calls_total: {
    kind: 'counter',
    unit: '1',
    help: 'Attempts of tool calls that have ended, by tool and status (ok, tool_error, timed_out …). A call of a remote tool counts once.',
    labels: ['tool', 'status'],
  },
  ptc_tool_call_latency_milliseconds: {
    kind: 'histogram',
    unit: 'ms',
    help: 'Duration of an attempt of a tool call, validation included.',
    labels: ['tool'],
  },
  ptc_tool_calls_running: {
    kind: 'gauge',
    unit: '1',
    help: 'Tool calls that this worker executes now. Calls that wait for a reply are among them.',
    labels: [],
  },
  ptc_compensations_total: {
    kind: 'counter',
    unit: '1',
    help: 'Attempts of compensations that have ended, by tool and status (ok, failed).',
    labels: ['tool', 'status'],
  },
  ptc_model_turns_total: {
    kind: 'counter',
    unit: '1',
    help: 'Requests to the model that have ended, by model and status (ok, or an error code).',
    labels: ['model', 'status'],
  },
  ptc_model_turn_latency_milliseconds: {
    kind: 'histogram',
    unit: 'ms',
    help: 'Duration of a request to the model, to the end of its reply.',
    labels: ['model'],
  },
  ptc_model_tokens_total: {
    kind: 'counter',
    unit: '1',
    help: 'Tokens of replies, by model and type (input, output, cache_read, cache_write).',
    labels: ['model', 'type'],
  },
  ptc_model_cost_microdollars_total: {
    kind: 'counter',
    unit: '1',
    help: 'Cost of replies of models with a known price, in millionths of a US dollar.',
    labels: ['model'],
  },
  ptc_cells_total: {
    kind: 'counter',
    unit: '1',
    help: 'Cells that have ended, by status (ok, code_error, timed_out, limit_exceeded, stopped, diverged, lost).',
    labels: ['status'],
  },
  ptc_cell_latency_milliseconds: {
    kind: 'histogram',
    unit: 'ms',
    help: 'Time from the start of a cell to its end, waiting included.',
    labels: [],
  },
  ptc_cell_run_milliseconds: {
    kind: 'histogram',
    unit: 'ms',
    help: 'Time for which the code of a cell ran, waiting for tools and timers not counted. As the sandbox reports.',
    labels: [],
  },
  ptc_cell_cpu_milliseconds: {
    kind: 'histogram',
    unit: 'ms',
    help: 'CPU time of a cell and of its child processes that have ended. As the sandbox reports.',
    labels: [],
  },
  ptc_cell_peak_memory_bytes: {
    kind: 'histogram',
    unit: 'By',
    help: 'Highest memory of the process of a cell, without child processes. As the sandbox reports.',
    labels: [],
  },
  ptc_sessions_open: {
    kind: 'gauge',
    unit: '1',
    help: 'Sandboxes of sessions to which this worker is connected.',
    labels: [],
  },
  ptc_session_opens_total: {
    kind: 'counter',
    unit: '1',
    help: 'Sandboxes opened for a session, by backend and reason (new, rebuild, unpark).',
    labels: ['backend', 'reason'],
  },
  ptc_session_losses_total: {
    kind: 'counter',
    unit: '1',
    help: 'Sandboxes lost, by cause (gone, exited, host_unreachable, out_of_memory, killed_at_limit, protocol, fenced).',
    labels: ['cause'],
  },
  ptc_session_rebuilds_total: {
    kind: 'counter',
    unit: '1',
    help: 'Journals repeated in a new sandbox, by result (rebuilt, diverged, restore_failed, lost).',
    labels: ['result'],
  },
  ptc_session_attaches_total: {
    kind: 'counter',
    unit: '1',
    help: 'Connections to a sandbox that this worker did not have open, by result (attached, gone).',
    labels: ['result'],
  },
  ptc_session_parks_total: {
    kind: 'counter',
    unit: '1',
    help: 'Sandboxes released while their code waited, by result (checkpointed, removed).',
    labels: ['result'],
  },
  ptc_takeover_attempts_total: {
    kind: 'counter',
    unit: '1',
    help: 'Activity attempts of dead workers that this worker failed, so that they are retried.',
    labels: [],
  },
  ptc_warm_pool_idle: {
    kind: 'gauge',
    unit: '1',
    help: 'Idle containers in the warm pool of this worker.',
    labels: [],
  },
  ptc_warm_pool_claims_total: {
    kind: 'counter',
    unit: '1',
    help: 'Sessions that looked for an idle container, by result (hit, miss).',
    labels: ['result'],
  },
  ptc_warm_pool_failures_total: {
    kind: 'counter',
    unit: '1',
    help: 'Idle containers that could not be created, or that exited by themselves.',
    labels: [],
  },
  ptc_event_loop_stall_milliseconds: {
    kind: 'histogram',
    unit: 'ms',
    help: 'Times for which the event loop of a worker with tools was blocked, from 2 seconds on.',
    labels: [],
  },
  ptc_sandboxes: {
    kind: 'gauge',
    unit: '1',
    help: 'Containers of this namespace on the Docker daemon, by state (running, parked …). Sampled.',
    labels: ['state'],
  },
  ptc_sandbox_memory_bytes: {
    kind: 'gauge',
    unit: 'By',
    help: 'Memory of the sampled containers together, without page cache.',
    labels: [],
  },
  ptc_sandbox_memory_max_bytes: {
    kind: 'gauge',
    unit: 'By',
    help: 'Memory of the sampled container that uses the most, without page cache.',
    labels: [],
  },
  ptc_sandbox_cpu_milliseconds_total: {
    kind: 'counter',
    unit: 'ms',
    help: 'Processor time that the sampled containers used between two samples.',
    labels: [],
  },
  ptc_value_bytes_total: {
    kind: 'counter',
    unit: 'By',
    help: 'Bytes of external values, by direction (written, read). Values from the cache do not count.',
    labels: ['direction'],
  },
  ptc_value_failures_total: {
    kind: 'counter',
    unit: '1',
    help: 'Operations of the value store that failed after their retries, by error code.',
    labels: ['code'],
  },
  ptc_encryption_failures_total: {
    kind: 'counter',
    unit: '1',
    help: 'Payloads that could not be encrypted or decrypted, by error code. A workflow task with one is tried again.',
    labels: ['code'],
  },
  ptc_stream_dropped_total: {
    kind: 'counter',
    unit: '1',
    help: 'Events of live streams that were dropped, because their store failed or was slow.',
    labels: [],
  },
  ptc_uncaught_errors_total: {
    kind: 'counter',
    unit: '1',
    help: 'Exceptions and rejected promises that nothing caught, by result (failed: so did their call or activity, late: it had ended, unattributed).',
    labels: ['result'],
  },
  ptc_audit_failures_total: {
    kind: 'counter',
    unit: '1',
    help: 'Events that could not be written to the audit log.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

/** Upper bounds in milliseconds: from a local tool to a model that thinks. */
const latencyBuckets = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000]

/** Upper bounds in bytes: from an idle interpreter, 16 MiB, to 8 GiB. */
const memoryBuckets = Array.from({ length: 10 }, (_, power) => 2 ** (24 + power))

/**
 * Upper bounds of the buckets of each histogram of the engine, for `histogramBucketOverrides` of Temporal's runtime.
 * Its default buckets end at 10 seconds.
 */
export const histogramBuckets: Readonly<Record<string, number[]>> = Object.fromEntries(
  Object.entries(metricTable)
    .filter(([, { kind }]) => kind === 'histogram')
    .map(([name, { unit }]) => [name, unit === 'By' ? memoryBuckets : latencyBuckets]),
)
