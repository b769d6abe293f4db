/** Problems of records that must be kept, or that exist no longer. */
import type { ProblemType } from './problem-type.ts'

export const recordProblems = {
  legal_hold: {
    status: 409,
    title: 'A legal hold keeps it',
    advice: 'Nothing was changed. It can be deleted or erased when another person has released every hold on it.',
  },
  open_case: {
    status: 409,
    title: 'An investigation that is not ended keeps it',
    advice: 'Nothing was changed. It can be erased when every investigation of the subject is ended.',
  },
  document_refused: {
    status: 409,
    title: 'The file cannot be stored as a document',
    advice:
      'Each entry of errors says what is wrong with the file. The list document-types names what is accepted. Nothing was stored.',
  },
  document_infected: {
    status: 409,
    title: 'The malware scanner found something in the document',
    advice: 'The content is not given out. scan_result of the document names what was found; delete the document.',
  },
  report_invalid: {
    status: 409,
    title: 'The report cannot be made with these parameters',
    advice: 'Each entry of errors names a member. GET /api/reports/templates/{key} has the schema of the parameters.',
  },
  format_unavailable: {
    status: 409,
    title: 'The report does not exist in this format',
    advice:
      'The detail says why it was not or cannot be made. GET /api/capabilities names the formats of this installation; the other formats of the report can be read.',
  },
  retention: {
    status: 409,
    title: 'A retention period keeps it',
    advice:
      'Nothing was changed. keep_until, or kept for each class of records, says until when and by which rule; null: no end is stated.',
  },
  erased: {
    status: 410,
    title: 'The content was erased',
    advice:
      'Identifiers, outcome and hash remain. The content cannot be read by anybody any more; do not repeat the request.',
  },
} as const satisfies Record<string, ProblemType>
