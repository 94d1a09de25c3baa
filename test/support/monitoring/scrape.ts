/** One sample of Prometheus' text format. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Reads the metrics of a worker as Prometheus does. */
export async function scrape(address: string): Promise<readonly Sample[]> {
  const response = await fetch(`http://${address}/metrics`)
  if (!response.ok) throw new Error(`status ${response.status}`)
  return (await response.text()).split('\n').flatMap(parseLine)
}

function parseLine(line: string): Sample[] {
  const match = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/.exec(line)
  if (match?.groups === undefined) return []
  const { name = '', labels = '', value = '' } = match.groups
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, key = '', text = '']) => [key, text] as const,
  )
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
}

/** The sum of the samples with this name and these labels. */
export function total(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}
