/** The documents that are generated from the declarations alone, by file name. */
import { modules } from '#app/modules.ts'
import { renderEndpoints } from './endpoints-document.ts'
import { CHECKSUMS_FILE, renderChecksums } from './landed.ts'
import { renderProofVectors } from './proof-vectors.ts'

export const renderDeclaredDocuments = (root: string): Readonly<Record<string, string>> => ({
  'docs/endpoints.md': renderEndpoints(root, modules),
  'docs/proofs/vectors.json': renderProofVectors(),
  [CHECKSUMS_FILE]: renderChecksums(root),
})
