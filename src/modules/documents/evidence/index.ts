/** Evidence items, for the modules whose objects own them. */
export { attachEvidence, attachKnown, compareEvidence } from './attach-evidence.ts'
export { type EvidenceRow, findEvidence, isShown, listEvidenceByOwner } from './queries.ts'
