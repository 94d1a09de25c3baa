const everyMs = 200

/** Watches the memory of this process, in MiB of resident set, until stopped. */
export function sampleMemory(): { stop(): { readonly atFirst: number; readonly atMost: number } } {
  const samples: number[] = []
  const timer = setInterval(() => samples.push(process.memoryUsage.rss() / 2 ** 20), everyMs)
  return {
    stop() {
      clearInterval(timer)
      // Garbage comes and goes: what it takes to do a tenth of the work is the most of that tenth.
      const tenth = samples.slice(0, Math.max(1, Math.floor(samples.length / 10)))
      return { atFirst: Math.max(...tenth), atMost: Math.max(...samples) }
    },
  }
}
