import type { RunPlan } from '../common/plan.js'
import type { SessionTools } from '../common/steps.js'

/** The tools of a run, as an activity of its session is given them. Nothing in a run that has recorded none. */
export function sessionTools({ toolSet }: RunPlan, hasStubs: boolean): { readonly tools?: SessionTools } {
  if (toolSet === undefined) return {}
  const { digest, signatures } = toolSet
  return { tools: hasStubs ? { digest } : { digest, signatures } }
}
