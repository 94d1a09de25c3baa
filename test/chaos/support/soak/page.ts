import { machineFacts } from '../../../../bench/support/machine.js'
import { type Band, barChart, dotChart, escape, lineChart, type Series } from './charts.js'
import { type Fault, faultKinds } from './faults.js'
import { quantilesOf, recoveryByKind } from './recovery.js'
import { describeProblems, figuresOf, type SoakReport } from './report.js'

const binSeconds = 5

const style = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --grid: #e0e1e6; --page: #fcfcfd;
  --c0: #3e63dd; --c1: #e5484d; --c2: #30a46c; --c3: #f76b15; --c4: #8e4ec6; --c5: #12a594; --c6: #978365 }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #b0b4ba; --grid: #363a3f; --page: #111113;
  --c0: #849dff; --c1: #ff9592; --c2: #3dd68c; --c3: #ffa057; --c4: #d19dff; --c5: #0bd8b6; --c6: #cbbda5 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 920px;
  margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--grid); vertical-align: top }
svg { width: 100%; height: auto } .grid { stroke: var(--grid) } .axis { stroke: var(--soft) }
.tick, .row { fill: var(--soft); font-size: 12px } .line { fill: none; stroke-width: 1.6 } .band { opacity: .16 } .bar { fill: var(--soft); opacity: .75 }
.median { stroke: var(--ink); stroke-width: 2 } .dot { opacity: .55 } .legend { color: var(--soft) }
.legend b { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; border-radius: 2px }
.problem { color: var(--c1); white-space: pre-wrap }
${faultKinds.map((_, index) => `.c${index} { fill: var(--c${index}); } .line.c${index} { fill: none; stroke: var(--c${index}) } .legend .c${index} { background: var(--c${index}) }`).join('\n')}
`

/** A page without other files: figures, throughput, recovery and memory over the time, and all faults. */
export function soakPage(report: SoakReport): string {
  const { startedAt, durationMs } = report
  const secondsAt = (time: number): number => (time - startedAt) / 1_000
  const xMax = Math.max(1, durationMs / 1_000)
  const bands = report.faults.map((fault) => bandOf(fault, secondsAt))
  const time = { xName: 'seconds since the first run', xMax, bands }
  const problems = describeProblems(report)
  const parts = [
    `<h1>Soak, ${new Date(startedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC</h1>`,
    problems.length === 0
      ? '<p>Nothing was lost, doubled or leaked.</p>'
      : problems.map((problem) => `<p class="problem">${escape(problem)}</p>`).join(''),
    table(Object.entries(machineFacts())),
    '<h2>Figures</h2>',
    table(figuresOf(report)),
    '<h2>Throughput</h2>',
    `<p>Completed calls in each ${binSeconds} seconds. Bands are faults, until the victim is ready again.</p>`,
    legendOf(faultKinds),
    barChart({ series: [callsOverTime(report, secondsAt)], yName: 'calls', ...time }, binSeconds),
    '<h2>Recovery</h2>',
    '<p>From a fault until each run that it touched has completed a call that began after the fault, or has ended.</p>',
    dotChart({ series: recoverySeries(report), xName: 'seconds', xMax: longestRecovery(report) }),
    recoveryTable(report),
    '<h2>Memory</h2>',
    '<p>Sums over processes, with shared pages divided among them.</p>',
    legendOf(memorySeries(report, secondsAt).map(({ name }) => name)),
    lineChart({ series: memorySeries(report, secondsAt), yName: 'MiB', ...time, bands: [] }),
    '<h2>Faults</h2>',
    table(
      report.faults
        .toSorted((one, other) => one.at - other.at)
        .map(({ victim, at, until, touched }) => [
          `${secondsAt(at).toFixed(1)} s`,
          victim,
          `down for ${((until - at) / 1_000).toFixed(1)} s`,
          `touches ${touched.length} runs`,
        ]),
    ),
  ]
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Soak</title><style>${style}</style>${parts.join('\n')}</html>\n`
}

function bandOf({ kind, victim, at, until }: Fault, secondsAt: (time: number) => number): Band {
  return { from: secondsAt(at), to: secondsAt(until), name: victim, color: faultKinds.indexOf(kind) }
}

function callsOverTime({ runs }: SoakReport, secondsAt: (time: number) => number): Series {
  const bins = new Map<number, number>()
  for (const { completedAt } of runs.flatMap(({ calls }) => calls)) {
    const bin = Math.floor(secondsAt(completedAt) / binSeconds)
    bins.set(bin, (bins.get(bin) ?? 0) + 1)
  }
  return { name: 'calls', points: [...bins].map(([bin, y]) => ({ x: bin * binSeconds, y })) }
}

function recoverySeries({ recoveries }: SoakReport): readonly Series[] {
  return faultKinds.map((kind) => ({
    name: kind,
    points: recoveries.filter((each) => each.kind === kind).map(({ ms }) => ({ x: ms / 1_000, y: 0 })),
  }))
}

function longestRecovery({ recoveries }: SoakReport): number {
  return Math.max(1, ...recoveries.map(({ ms }) => ms / 1_000))
}

function recoveryTable({ recoveries }: SoakReport): string {
  const all = { ...recoveryByKind(recoveries), all: quantilesOf(recoveries.map(({ ms }) => ms)) }
  const text = (ms: number | undefined): string => (ms === undefined ? '' : `${(ms / 1_000).toFixed(2)} s`)
  const rows = Object.entries(all).map(([kind, { count, p50, p99, max }]) => [
    kind,
    String(count),
    text(p50),
    text(p99),
    text(max),
  ])
  return table([['fault', 'runs touched', 'p50', 'p99', 'max'], ...rows])
}

function memorySeries({ memory }: SoakReport, secondsAt: (time: number) => number): readonly Series[] {
  const names = Object.keys(memory[0]?.parts ?? {})
  return names.map((name) => ({
    name,
    points: memory.map(({ at, parts }) => ({ x: secondsAt(at), y: (parts[name] ?? 0) / 2 ** 20 })),
  }))
}

function legendOf(names: readonly string[]): string {
  return `<p class="legend">${names.map((name, index) => `<b class="c${index}"></b>${escape(name)}`).join('')}</p>`
}

function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => `<tr>${row.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`)
  return `<table>${cells.join('')}</table>`
}
