/** Evidence items, for the modules whose objects own them. */
export { attachEvidence, compareEvidence } from './attach-evidence.ts'
export { type EvidenceRow, findEvidence, insertEvidence, isShown, listEvidenceByOwner } from './queries.ts'
