/** Where a process may be killed by a test: each is a moment at which something has just happened and nobody knows of it yet. */
export const crashPoints = [
  'plan.read',
  'model.begins',
  'model.replied',
  'model.kept',
  'open.begins',
  'container.created',
  'container.started',
  'open.ends',
  'advance.begins',
  'sandbox.attached',
  'step.repeated',
  'frame.sent',
  'step.answered',
  'advance.ends',
  'tool.begins',
  'tool.ran',
  'tool.ends',
  'journal.begins',
  'journal.kept',
  'value.written',
  'value.published',
  'snapshot.begins',
  'snapshot.kept',
  'snapshot.restored',
  'close.begins',
  'close.ends',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** What is called at each point, if somebody has put it there: on `globalThis`, so that it can be put there from outside. */
const hook = Symbol.for('durable-ptc.crash-point')

/**
 * A crash may happen here. A statement on a line of its own: the build takes it out of what is shipped (`scripts/build.mjs`), and
 * leaves it in `dist-chaos`, which only tests run.
 */
export function crashPoint(name: CrashPoint): void {
  const surroundings = globalThis as { readonly [hook]?: (name: CrashPoint) => void }
  surroundings[hook]?.(name)
}
