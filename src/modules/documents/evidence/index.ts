/** Evidence items, for the modules whose objects own them. */
export { attachEvidence, attachKnown, compareEvidence } from './attach-evidence.ts'
export {
  type AnswerAuthor,
  type EvidenceRow,
  findEvidence,
  listEvidenceByOwner,
  selectEntered,
} from './queries.ts'
export { EnteredBy } from './schema.ts'
