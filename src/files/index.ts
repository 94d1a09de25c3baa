/*
 * Files of runs in the value store.
 *
 * Owns: taking a file apart into values and putting it together again, and what is said about a file: its media type,
 * the size of an image, the first lines of a text. Images of results, which are in no file.
 * Boundary: the value store. It knows no sandbox, no client and no workflow. `common/files` has the recorded form.
 *
 * Invariants:
 * 1. A file is in memory in one part at a time.
 * 2. A file that is read has the size and the SHA-256 of its record, or the reader gets an error.
 * 3. What is said about a file comes from bytes that somebody else chose: it is bounded, and never trusted.
 */
export { FoundImages } from './result-images.js'
export { readStoredFile } from './read-file.js'
export { type FileSource, storeFile } from './store-file.js'
