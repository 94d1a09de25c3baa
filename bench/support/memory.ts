const intervalMs = 200

/** Samples the resident memory of this process in MiB until stopped. */
export function sampleMemory(): { stop(): { readonly peakOfFirstTenth: number; readonly peak: number } } {
  const samples: number[] = []
  const timer = setInterval(() => samples.push(process.memoryUsage.rss() / 2 ** 20), intervalMs)
  return {
    stop() {
      clearInterval(timer)
      // The peak of the first tenth is used, because the amount of garbage varies.
      const tenth = samples.slice(0, Math.max(1, Math.floor(samples.length / 10)))
      return { peakOfFirstTenth: Math.max(...tenth), peak: Math.max(...samples) }
    },
  }
}
