/** Points at which a test may kill a process. At each of them, a result exists that is not recorded yet. */
export const failpoints = [
  'config.loaded',
  'session.started',
  'model.begins',
  'model.replied',
  'turn.stored',
  'messages.summarized',
  'messages.compacted',
  'open.begins',
  'container.created',
  'container.started',
  'open.ends',
  'step.begins',
  'sandbox.attached',
  'step.repeated',
  'frame.sent',
  'step.result',
  'step.ends',
  'effects.begin',
  'effects.stored',
  'tool.begins',
  'tool.ran',
  'tool.ends',
  'approval.requested',
  'compensation.begins',
  'compensation.ran',
  'journal.begins',
  'journal.stored',
  'value.written',
  'value.published',
  'memory.stored',
  'memory.written',
  'snapshot.begins',
  'snapshot.stored',
  'snapshot.restored',
  'files.begins',
  'files.stored',
  'eval.reserved',
  'eval.started',
  'eval.timed_out',
  'eval.ended',
  'close.begins',
  'close.ends',
] as const

export type Failpoint = (typeof failpoints)[number]

/** Key of the hook on `globalThis`; a preloaded module installs the hook. */
const hookKey = Symbol.for('durable-ptc.failpoint')

/** Calls the hook that a test installed on `globalThis`. Does nothing without a hook. */
export function failpoint(name: Failpoint): void {
  const globals = globalThis as { readonly [hookKey]?: (name: Failpoint) => void }
  globals[hookKey]?.(name)
}
