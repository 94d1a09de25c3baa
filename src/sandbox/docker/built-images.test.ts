import { expect, it } from 'vitest'
import { type ListedImage, prunableImages } from './built-images.js'

it('only images of other versions that no container uses are removed', () => {
  const image = { id: '', title: 'minimal', packages: [], bytes: 1, createdAt: new Date(0) }
  const images: readonly ListedImage[] = [
    { ...image, name: 'current', isCurrent: true, containers: 0 },
    { ...image, name: 'used', isCurrent: false, containers: 1 },
    { ...image, name: 'left', isCurrent: false, containers: 0 },
  ]
  expect(prunableImages(images).map(({ name }) => name)).toEqual(['left'])
})
