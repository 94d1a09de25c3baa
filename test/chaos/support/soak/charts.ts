/** Charts as SVG, without a library. Colors are variables of the page. */

const width = 880
const height = 260
const margin = { left: 108, right: 16, top: 14, bottom: 34 }
const plot = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom }

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Series {
  readonly name: string
  readonly points: readonly Point[]
}

/** A moment or a time on the x axis, drawn as a band. */
export interface Band {
  readonly from: number
  readonly to: number
  readonly name: string
  /** Index of its color. */
  readonly color: number
}

interface ChartOptions {
  readonly series: readonly Series[]
  readonly yName: string
  readonly xName: string
  readonly xMax: number
  readonly bands?: readonly Band[]
}

/** Lines over the time. */
export function lineChart({ series, yName, xName, xMax, bands = [] }: ChartOptions): string {
  const axes = axesOf(xMax, Math.max(1, ...series.flatMap(({ points }) => points.map(({ y }) => y))))
  const lines = series.map(({ name, points }, index) => {
    const path = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${axes.x(x)} ${axes.y(y)}`).join('')
    return `<path class="line c${index}" d="${path}"><title>${escape(name)}</title></path>`
  })
  return svg([...bandsOf(bands, axes), ...axes.drawing(xName, yName), ...lines])
}

/** Bars over the time; each bar begins at the x of its point, and has this width. */
export function barChart({ series, yName, xName, xMax, bands = [] }: ChartOptions, barWidth: number): string {
  const points = series.flatMap((each) => each.points)
  const axes = axesOf(xMax, Math.max(1, ...points.map(({ y }) => y)))
  const bars = points.map(({ x, y }) => {
    const right = Math.min(axes.x(xMax), axes.x(x + barWidth))
    const size = `width="${Math.max(1, right - axes.x(x) - 1)}" height="${axes.y(0) - axes.y(y)}"`
    return `<rect class="bar" x="${axes.x(x)}" y="${axes.y(y)}" ${size}><title>${y}</title></rect>`
  })
  return svg([...bandsOf(bands, axes), ...axes.drawing(xName, yName), ...bars])
}

/** One row of dots for each series, and a mark at its median. */
export function dotChart({ series, xName, xMax }: Pick<ChartOptions, 'series' | 'xName' | 'xMax'>): string {
  const axes = axesOf(xMax, series.length, false)
  const rows = series.flatMap(({ name, points }, index) => {
    const center = axes.y(series.length - index - 0.5)
    const sorted = points.map(({ x }) => x).toSorted((one, other) => one - other)
    const median = sorted[Math.floor((sorted.length - 1) / 2)]
    const dots = points.map(({ x }, at) => {
      const y = round(center + ((at * 7) % 15) - 7)
      return `<circle class="dot c${index}" cx="${axes.x(x)}" cy="${y}" r="2.5"><title>${x.toFixed(2)}</title></circle>`
    })
    const mark =
      median === undefined
        ? ''
        : `<path class="median" d="M${axes.x(median)} ${center - 11}V${center + 11}"><title>median</title></path>`
    const label = `<text class="row" x="${margin.left - 8}" y="${center + 4}" text-anchor="end">${escape(name)}</text>`
    return [label, ...dots, mark]
  })
  return svg([...axes.drawing(xName, ''), ...rows])
}

interface Axes {
  x(value: number): number
  y(value: number): number
  drawing(xName: string, yName: string): readonly string[]
}

function axesOf(xMax: number, yMax: number, hasYTicks = true): Axes {
  const [xTicks, yTicks] = [ticksUpTo(xMax), ticksUpTo(yMax)]
  const top = hasYTicks ? Math.max(yMax, yTicks.at(-1) ?? yMax) : yMax
  const x = (value: number): number => round(margin.left + (value / xMax) * plot.width)
  const y = (value: number): number => round(margin.top + (1 - value / top) * plot.height)
  return {
    x,
    y,
    drawing: (xName, yName) => [
      ...(hasYTicks ? yTicks : []).map(
        (tick) =>
          `<path class="grid" d="M${margin.left} ${y(tick)}H${width - margin.right}"/>` +
          `<text class="tick" x="${margin.left - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
      ),
      ...xTicks
        .filter((tick) => tick <= xMax)
        .map((tick) => `<text class="tick" x="${x(tick)}" y="${height - 18}" text-anchor="middle">${tick}</text>`),
      `<path class="axis" d="M${margin.left} ${y(0)}H${width - margin.right}"/>`,
      `<text class="tick" x="${width - margin.right}" y="${height - 4}" text-anchor="end">${escape(xName)}</text>`,
      `<text class="tick" x="4" y="10">${escape(yName)}</text>`,
    ],
  }
}

/** About five round numbers from 0. */
function ticksUpTo(most: number): readonly number[] {
  const rough = most / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)))
}

function bandsOf(bands: readonly Band[], axes: Axes): readonly string[] {
  return bands.map(({ from, to, name, color }) => {
    const size = `width="${Math.max(2, axes.x(to) - axes.x(from))}" height="${plot.height}"`
    return `<rect class="band c${color}" x="${axes.x(from)}" y="${margin.top}" ${size}><title>${escape(name)}</title></rect>`
  })
}

function svg(parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${width} ${height}" role="img">${parts.join('')}</svg>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
