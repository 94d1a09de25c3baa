/**
 * Repeats an out-of-memory kill until the Docker daemon reports it as one. On a busy machine the daemon misses one in
 * forty, because its shim exits before it has reported the kill; the sandbox then ends for an unknown reason.
 */
export async function retryMissedOomKill<End>(end: () => Promise<End>, isMissed: (end: End) => boolean): Promise<End> {
  for (let attempt = 1; ; attempt += 1) {
    const ended = await end()
    if (attempt === 5 || !isMissed(ended)) return ended
  }
}
