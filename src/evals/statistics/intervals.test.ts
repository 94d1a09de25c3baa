import { expect, test } from 'vitest'
import {
  differenceOfMeans,
  differenceOfRates,
  isSignificant,
  meanInterval,
  momentsOf,
  wilsonInterval,
} from './intervals.js'
import { studentProbability, studentQuantile } from './student.js'

test.each([
  // Newcombe, Stat. Med. 17 (1998) 857, table I, method 3.
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])("Wilson's interval of %i of %i has the published ends", (successes, total, low, high) => {
  const interval = wilsonInterval({ successes, total })
  expect(interval?.low).toBeCloseTo(low, 4)
  expect(interval?.high).toBeCloseTo(high, 4)
})

test.each([
  // Newcombe, Stat. Med. 17 (1998) 873, table II, method 10.
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [10, 10, 0, 10, 0.6075, 1],
])("Newcombe's interval of %i of %i minus %i of %i has the published ends", (a, m, b, n, low, high) => {
  const interval = differenceOfRates({ successes: a, total: m }, { successes: b, total: n })
  expect(interval?.low).toBeCloseTo(low, 4)
  expect(interval?.high).toBeCloseTo(high, 4)
})

test.each([
  // Tables of Student's distribution, two sides, 95 %.
  [1, 12.706_205],
  [2, 4.302_653],
  [5, 2.570_582],
  [10, 2.228_139],
  [30, 2.042_272],
  [120, 1.979_93],
  [1e6, 1.959_966],
])("the 0.975 quantile of Student's distribution with %d degrees of freedom is %d", (freedom, quantile) => {
  expect(studentQuantile(0.975, freedom)).toBeCloseTo(quantile, 5)
})

test("Student's distribution function is symmetric, and Cauchy's for one degree of freedom", () => {
  expect(studentProbability(1, 1)).toBeCloseTo(0.75, 12)
  expect(studentProbability(-1, 1)).toBeCloseTo(0.25, 12)
  expect(studentProbability(0, 7)).toBeCloseTo(0.5, 12)
})

test("Welch's interval has the values of R's t.test for the sleep data", () => {
  // R: t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776, 95 percent: -3.3654832 0.2054832
  const first = momentsOf([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2])
  const second = momentsOf([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
  if (first === undefined || second === undefined) throw new Error('there are values')
  const interval = differenceOfMeans(first, second)
  expect(interval?.low).toBeCloseTo(-3.365_483_2, 6)
  expect(interval?.high).toBeCloseTo(0.205_483_2, 6)
  expect(isSignificant(interval)).toBe(false)
})

test('the interval of a mean needs two values, and that of a difference a variance', () => {
  const one = momentsOf([3])
  const equal = momentsOf([3, 3])
  if (one === undefined || equal === undefined) throw new Error('there are values')
  expect(meanInterval(one)).toBeUndefined()
  expect(differenceOfMeans(equal, equal)).toBeUndefined()
  expect(momentsOf([])).toBeUndefined()
  expect(wilsonInterval({ successes: 0, total: 0 })).toBeUndefined()
})
