/** The parser of the TypeScript compiler, for tests that read the source. */
import { createRequire } from 'node:module'
import path from 'node:path'

// TypeScript 7 is native and has no parser to call; the client package has an older one for its generator.
const requireFromClient = createRequire(path.resolve(import.meta.dirname, '../../client/package.json'))
export const ts = requireFromClient('typescript')
