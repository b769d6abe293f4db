/** Wire contract of narratives. */
import {
  Count,
  closed,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  reasonText,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { Guard, Principal } from '../schema.ts'
import { paragraphKinds } from './narrative.ts'

export const MAX_PARAGRAPHS = 200
const members = {
  kind: oneOf(paragraphKinds, { description: 'A fact cites evidence; an assessment says what somebody concludes.' }),
  cites: listOf(Id(), 50, { uniqueItems: true, description: 'Ids of evidence items of this investigation.' }),
}
const example = { examples: ['The customer received 40,000 EUR in March.'] }
const Paragraph = closed({ ...members, text: text(8000, example) }, { title: 'NarrativeParagraph' })
const WrittenParagraph = closed({ ...members, text: reasonText(8000, example) }, { title: 'WrittenParagraph' })
export const Narrative = closed(
  {
    version: Count,
    content_hash: nullable(text(64, { description: 'Salted: it says nothing about the content.' })),
    paragraphs: Type.Array(Paragraph),
    findings: Type.Array(Guard, { description: 'What has to be changed before an outcome can be proposed.' }),
    skeleton: Type.Array(Paragraph, { description: 'What the evidence says, to begin with.' }),
    written_at: nullable(Timestamp()),
    written_by: nullable(Principal),
  },
  { title: 'Narrative' },
)
export const NarrativeQuery = closed({
  version: Type.Optional(integer(1, Number.MAX_SAFE_INTEGER, { description: 'The newest when absent.' })),
  verify: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'true: compare the object of each cited item with its hash, as a proposal does.',
    }),
  ),
})
export const NarrativeRequest = closed({
  paragraphs: Type.Array(WrittenParagraph, { minItems: 1, maxItems: MAX_PARAGRAPHS }),
  expected_version: Type.Optional(
    integer(0, Number.MAX_SAFE_INTEGER, { description: 'The version that was read; 0: there was none.' }),
  ),
})
export const NarrativeVersionPage = pageOf(
  closed(
    { version: Count, content_hash: text(64), paragraphs: Count, written_at: Timestamp(), written_by: Principal },
    { title: 'NarrativeVersion' },
  ),
)
export const NarrativeVersionQuery = closed(pageQuery)
