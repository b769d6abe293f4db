/** Wire contract of documents. */
import {
  Count,
  closed,
  ExpectedRevision,
  Id,
  integer,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  RestrictionInForce,
  Revision,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { custodyActs } from './custody.ts'
import { MAX_DOCUMENT_BYTES } from './document-bytes.ts'
import { documentStates, scanStates } from './queries.ts'

const Sha256 = (description: string) => text(64, { pattern: '^[0-9a-f]{64}$', description })
const Title = titleText(300, { examples: ['Certified copy of the passport'] })
const Category = Slug({ description: 'A word of the tenant, such as passport or contract.', examples: ['passport'] })
const MediaType = text(200, { examples: ['application/pdf'] })

export const Document = closed(
  {
    document_id: Id(),
    subject_id: nullable(Id({ description: 'Whose key encrypts the bytes; null: the document has its own.' })),
    title: nullable(text(300, { description: 'Null once the bytes are gone.' })),
    file_name: nullable(text(255, { description: 'As it was uploaded; null once the bytes are gone.' })),
    category: nullable(text(100)),
    media_type: text(200, { description: 'Of the bytes, as the service recognised it.' }),
    size_bytes: integer(1, MAX_DOCUMENT_BYTES),
    sha256: nullable(Sha256('Of the bytes as they were uploaded; null before they are stored and once they are gone.')),
    encrypted_sha256: nullable(Sha256('Of the bytes as they are stored, encrypted. It stays when they are gone.')),
    state: oneOf(documentStates, {
      description:
        'storing: a job takes the bytes over. damaged: the stored bytes do not have their hash. failed: they could not be ' +
        'stored. deleted, erased: only this record is left.',
    }),
    scan_state: oneOf(scanStates, { description: 'What the malware scanner of the operator says.' }),
    scanned_at: nullable(Timestamp()),
    scan_result: nullable(text(200, { description: 'What was found, or why scanning failed.' })),
    job_id: nullable(Id({ description: 'The job that stores or scans it; null: none was needed.' })),
    checked_at: nullable(Timestamp({ description: 'When the stored bytes were last compared with their hash.' })),
    stored_at: nullable(Timestamp()),
    ended_at: nullable(Timestamp({ description: 'When it was deleted or erased.' })),
    ended_by: nullable(text(200)),
    end_reason: nullable(text(2000)),
    restriction_id: RestrictionInForce(),
    revision: Revision,
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
    updated_by: text(200),
  },
  { title: 'Document' },
)
export const DocumentPage = pageOf(Document)
export const DocumentParams = closed({ document_id: Id() })
export const DocumentQuery = closed({
  ...pageQuery,
  subject_id: Type.Optional(Id()),
  state: Type.Optional(oneOf(documentStates)),
})

export const DocumentRequest = closed({
  upload_id: Id({
    description: 'A complete upload with a file name. Its bytes are taken over, and the upload is removed.',
  }),
  title: Title,
  category: Type.Optional(nullable(Category)),
  subject_id: Type.Optional(nullable(Id({ description: 'Whom it is about.' }))),
  restriction_id: Type.Optional(
    nullable(Id({ description: 'A restriction that I may see. Without one it can be restricted later.' })),
  ),
  media_type: Type.Optional(MediaType),
  sha256: Type.Optional(Sha256('Of the file as you have it: refused where other bytes arrived.')),
})
export const DocumentChange = closed({
  title: Type.Optional(Title),
  category: Type.Optional(nullable(Category)),
  expected_revision: ExpectedRevision,
})
export const DocumentEnd = closed({ reason: reasonText(2000, { examples: ['Uploaded by mistake'] }) })

export const DocumentCheck = closed(
  {
    document_id: Id(),
    is_intact: Type.Boolean({ description: 'The bytes are those that were stored.' }),
    sha256: nullable(Sha256('What it must be.')),
    size_bytes: Count,
    checked_at: Timestamp(),
  },
  { title: 'DocumentCheck' },
)

const CustodyEntry = closed(
  {
    event_id: Id({ description: 'The event of the audit record.' }),
    recorded_at: Timestamp(),
    act: oneOf(custodyActs),
    actor: text(300),
    operation: text(200),
  },
  { title: 'CustodyEntry' },
)
export const CustodyPage = pageOf(CustodyEntry)
export const CustodyQuery = closed(pageQuery)
