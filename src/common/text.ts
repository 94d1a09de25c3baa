/** Cuts the middle out of a text that is over the limit, and says how much is missing. Head and tail say the most. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = limit - head
  return `${text.slice(0, head)}\n[... ${text.length - limit} characters cut ...]\n${text.slice(text.length - tail)}`
}

/** 950 -> "950", 1234 -> "1.2k", 4_100_000 -> "4.1M". */
export function shortNumber(value: number): string {
  if (value < 1_000) return String(value)
  if (value < 999_950) return `${(value / 1_000).toFixed(1)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

/** 1 -> "1 call", 2 -> "2 calls". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
