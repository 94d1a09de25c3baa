/*
 * Confidence intervals, with a level of 95 %.
 *
 * A rate has Wilson's score interval, because it holds for few samples and for rates near to 0 and 1:
 * E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209; R. G. Newcombe, Stat. Med. 17 (1998) 857, method 3.
 * A difference of two rates has Newcombe's hybrid score interval: Stat. Med. 17 (1998) 873, method 10.
 * A mean has Student's interval, and a difference of two means Welch's: B. L. Welch, Biometrika 34 (1947) 28.
 *
 * The samples of one task are draws of one rate. For samples of several tasks the intervals of rates are wider than
 * needed, never narrower: the variance of a sum of draws with different rates is at most that of draws with their mean
 * rate. The intervals say how results vary when the same tasks run again. They say nothing about other tasks.
 */
import { studentQuantile } from './student.js'

/** Quantile 0.975 of the standard normal distribution. */
const z = 1.959_963_984_540_054

export interface Interval {
  readonly low: number
  readonly high: number
}

/** A count of successes. */
export interface Proportion {
  readonly successes: number
  readonly total: number
}

/** Wilson's score interval of a rate. Undefined without samples. */
export function wilsonInterval({ successes, total }: Proportion): Interval | undefined {
  if (total === 0) return undefined
  const rate = successes / total
  const squared = z * z
  const center = rate + squared / (2 * total)
  const spread = z * Math.sqrt((rate * (1 - rate)) / total + squared / (4 * total * total))
  const scale = 1 + squared / total
  const low = (center - spread) / scale
  const high = (center + spread) / scale
  // Exact at the ends, where the sums of doubles are not.
  return { low: successes === 0 ? 0 : Math.max(0, low), high: successes === total ? 1 : Math.min(1, high) }
}

/** Newcombe's hybrid score interval of the rate of `a` minus the rate of `b`. Undefined without samples of both. */
export function differenceOfRates(a: Proportion, b: Proportion): Interval | undefined {
  const [first, second] = [wilsonInterval(a), wilsonInterval(b)]
  if (first === undefined || second === undefined) return undefined
  const [p, q] = [a.successes / a.total, b.successes / b.total]
  const difference = p - q
  return {
    low: difference - Math.hypot(p - first.low, second.high - q),
    high: difference + Math.hypot(first.high - p, q - second.low),
  }
}

export interface Moments {
  readonly count: number
  readonly mean: number
  /** Variance of the sample, with `count - 1`. 0 for one value. */
  readonly variance: number
}

/** Undefined without values. */
export function momentsOf(values: readonly number[]): Moments | undefined {
  const count = values.length
  if (count === 0) return undefined
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { count, mean, variance: count === 1 ? 0 : squares / (count - 1) }
}

/** Student's interval of a mean. Undefined for less than two values. */
export function meanInterval({ count, mean, variance }: Moments): Interval | undefined {
  if (count < 2) return undefined
  const half = studentQuantile(0.975, count - 1) * Math.sqrt(variance / count)
  return { low: mean - half, high: mean + half }
}

/**
 * Welch's interval of the mean of `a` minus the mean of `b`. Undefined for less than two values of one, and without
 * any variance: equal values say nothing about other draws.
 */
export function differenceOfMeans(a: Moments, b: Moments): Interval | undefined {
  if (a.count < 2 || b.count < 2) return undefined
  const [first, second] = [a.variance / a.count, b.variance / b.count]
  const variance = first + second
  if (variance === 0) return undefined
  const freedom = variance ** 2 / (first ** 2 / (a.count - 1) + second ** 2 / (b.count - 1))
  const half = studentQuantile(0.975, freedom) * Math.sqrt(variance)
  const difference = a.mean - b.mean
  return { low: difference - half, high: difference + half }
}

/** Whether an interval of a difference excludes zero. */
export function isSignificant(interval: Interval | undefined): boolean {
  return interval !== undefined && (interval.low > 0 || interval.high < 0)
}
