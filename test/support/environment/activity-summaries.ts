import type { TestEnvironment } from './test-environment.js'

/** Summaries of the activities in the last history of a run. */
export async function activitySummaries(env: TestEnvironment): Promise<readonly (string | undefined)[]> {
  return (await env.activities()).map(({ summary }) => summary)
}

/** Summaries of only the session's activities. */
export async function sessionSummaries(env: TestEnvironment): Promise<readonly (string | undefined)[]> {
  const rows = await env.activities()
  return rows.filter(({ type }) => type.startsWith('session.')).map(({ summary }) => summary)
}
