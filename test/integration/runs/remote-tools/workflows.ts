import { ApplicationFailure, condition, sleep } from '@temporalio/workflow'

/** Workflows of another team, used as tools in a test. */
export async function review(args: { readonly text: string }, call?: unknown): Promise<unknown> {
  return { verdict: args.text.toUpperCase(), call: call ?? null }
}

export async function failing(args: { readonly kind: string }): Promise<never> {
  await sleep(1)
  throw ApplicationFailure.create({ message: `no ${args.kind}`, type: args.kind })
}

/** A workflow that ends only when it is cancelled. */
export async function endless(): Promise<void> {
  await condition(() => false)
}
