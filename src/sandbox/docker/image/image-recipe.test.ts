import { expect, it } from 'vitest'
import type { ImageChoice } from '../../../common/run/sandbox-image.js'
import { imageFields } from '../../image-option.js'
import { imageRecipe } from './image-recipe.js'
import type { ImageSource } from './image-source.js'
import { namedImages } from './named-images.js'

const source: ImageSource = {
  directory: '',
  files: [],
  digest: 'd',
  base: undefined,
  node: undefined,
  tag: 'durable-ptc-sandbox:d',
}
const nameOf = (choice: ImageChoice, of = source): string => imageRecipe(of, choice).name

it('an image without a choice has the runners and nothing else', () => {
  const minimal = { kind: 'minimal', name: source.tag }
  const choices = [{}, { image: 'minimal' }, { image: source.tag }, { packages: {} }, { packages: { apt: [] } }]
  for (const choice of choices) expect(imageRecipe(source, choice)).toEqual(minimal)
})

it('an image of a user is used as it is, and below packages', () => {
  expect(imageRecipe(source, { image: 'ours:7' })).toEqual({ kind: 'foreign', name: 'ours:7' })
  expect(imageRecipe(source, { image: 'ours:7', packages: { pip: ['x'] } })).toMatchObject({
    kind: 'packages',
    title: 'packages',
    base: { kind: 'foreign', name: 'ours:7' },
    packages: { apt: [], pip: ['x'], npm: [] },
  })
})

it('packages on a named image are installed on top of it', () => {
  const { name } = imageRecipe(source, { image: 'data' })
  expect(name).toMatch(/^durable-ptc-sandbox:d-data-[0-9a-f]{8}$/)
  expect(imageRecipe(source, { image: 'data', packages: { npm: ['d3'] } })).toMatchObject({ base: { name } })
})

it('the name follows from the content: runners, base and packages', () => {
  const choice = { packages: { pip: ['a', 'b'], apt: ['c'] } }
  expect(nameOf({ packages: { apt: ['c'], pip: ['b', 'a', 'b'], npm: [] } })).toBe(nameOf(choice))
  const others = [
    nameOf({ ...choice, image: 'data' }),
    nameOf({ ...choice, image: 'ours:7' }),
    nameOf({ packages: { pip: ['a', 'b', 'c'] } }),
    nameOf({ packages: { pip: ['a', 'b'], npm: ['c'] } }),
    nameOf(choice, { ...source, tag: 'durable-ptc-sandbox:e' }),
  ]
  expect(new Set([nameOf(choice), ...others]).size).toBe(6)
})

it('the named images have names of packages', () => {
  for (const packages of namedImages.values()) expect(imageFields.packages.safeParse(packages).success).toBe(true)
})
