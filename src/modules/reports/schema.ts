/** Wire contract of reports. */
import { roles } from '#kernel/auth/roles.ts'
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
  RestrictionInForce,
  Revision,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { reportFormats, reportStates } from './model.ts'

const Sha256 = (description: string) => text(64, { pattern: '^[0-9a-f]{64}$', description })

export const Format = oneOf(reportFormats)
export const Formats = Type.Array(Format, {
  minItems: 1,
  maxItems: reportFormats.length,
  uniqueItems: true,
  description: 'All formats of this installation unless given.',
  examples: [['json', 'html', 'csv']],
})
export const Locale = text(35, { description: 'How numbers and dates are written.', examples: ['en-GB'] })
export const TimeZone = text(100, {
  description: 'IANA name. Times are given in it; that of the tenant unless given.',
  examples: ['Europe/Berlin'],
})
export const Parameters = Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
  additionalProperties: true,
  maxProperties: 20,
  description: 'As the template declares them.',
  examples: [{ subject_id: '0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60' }],
})

export const ReportRequest = closed({
  template: Slug({ description: 'Key of the template.', examples: ['subject-dossier'] }),
  parameters: Type.Optional(Parameters),
  formats: Type.Optional(Formats),
  locale: Type.Optional(Locale),
  time_zone: Type.Optional(TimeZone),
  restriction_id: Type.Optional(
    nullable(
      Id({
        description:
          'A restriction that I may see: what belongs to it is in the report, and only people with access see the report. Without one nothing restricted is in it.',
      }),
    ),
  ),
})

const ReportFile = closed(
  {
    format: Format,
    sha256: Sha256('Of the file. It stays when the content is gone.'),
    size_bytes: integer(1, 100_000_000),
  },
  { title: 'ReportFile' },
)

export const Report = closed(
  {
    report_id: Id(),
    template_key: Slug(),
    template_version: integer(1, 1_000_000),
    subject_id: nullable(Id({ description: 'Whose key encrypts the report; null: the report has its own.' })),
    parameters: Parameters,
    formats: listOf(Format, reportFormats.length),
    locale: text(35),
    time_zone: text(100),
    schedule_id: nullable(Id({ description: 'The schedule that requested it.' })),
    job_id: Id(),
    state: oneOf(reportStates, {
      description:
        'collecting: its content is being read. rendering: the snapshot is stored, and files are being made. ready: `failure` says why there is no PDF file, where the content cannot be typeset. failed: `failure` says why; files that were made can be read. deleted, erased: only this record and the hashes are left.',
    }),
    failure: nullable(text(2000)),
    snapshot_sha256: nullable(Sha256('Of the stored snapshot, which holds a random salt.')),
    files: listOf(ReportFile, reportFormats.length),
    ready_at: nullable(Timestamp()),
    verified_at: nullable(Timestamp({ description: 'When it was last made again from its snapshot.' })),
    is_identical: nullable(Type.Boolean({ description: 'Whether that gave the same bytes.' })),
    ended_at: nullable(Timestamp()),
    ended_by: nullable(text(200)),
    end_reason: nullable(text(2000)),
    restriction_id: RestrictionInForce(),
    revision: Revision,
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
    updated_by: text(200),
  },
  { title: 'Report' },
)
export const ReportPage = pageOf(Report)
export const ReportParams = closed({ report_id: Id() })
export const ReportQuery = closed({
  ...pageQuery,
  template: Type.Optional(Slug({ description: 'Key of the template.' })),
  template_key: Type.Optional(Slug({ description: 'The same as `template`.' })),
  subject_id: Type.Optional(Id()),
  schedule_id: Type.Optional(Id()),
  state: Type.Optional(oneOf(reportStates)),
})
export const ReportEnd = closed({ reason: reasonText(2000, { examples: ['Requested by mistake'] }) })
export const ContentQuery = closed({
  format: Format,
  preview: Type.Optional(
    Type.Boolean({ description: 'Shown in the page instead of saved: no file name is sent.', default: false }),
  ),
})

const manifestMembers = {
  template: closed({
    key: Slug(),
    version: Count,
    sha256: Sha256(
      'Of the canonical JSON of key, version, title, description, roles and parameters of the template. Up to renderer 3: of layout and stylesheet.',
    ),
  }),
  layout_sha256: Type.Optional(Sha256('Of layout and stylesheet. Reports of earlier releases have none.')),
  renderer: integer(1, 1_000_000, { description: 'Version of what makes JSON, HTML and CSV.' }),
  engine: nullable(closed({ name: text(100), version: text(50) })),
  fonts: listOf(closed({ file: text(255), sha256: Sha256('Of the font file.') }), 1000),
  locale: text(35),
  time_zone: text(100),
  parameters: Parameters,
  receipts: listOf(Id(), 10_000, { description: 'Receipts of the decisions in it.' }),
  decisions: Type.Optional(
    listOf(
      closed({
        evaluation_id: Id(),
        document_sha256: Type.Optional(
          Sha256('Of the decision document, as its certificate has it. Reports of earlier releases have none.'),
        ),
        receipt_id: Id(),
        receipt_sha256: Sha256('Of the versions that it was made on: decisions on the same versions have the same.'),
      }),
      10_000,
      {
        description:
          'The same receipts, with the decision and the hash of each. Reports of earlier releases have none.',
      },
    ),
  ),
  list_versions: listOf(closed({ list_key: Slug(), version: Count, content_hash: text(64) }), 10_000),
  snapshot_sha256: Sha256('Of the stored snapshot.'),
  created_at: Timestamp(),
}
/** As the row has it. */
export const StoredManifest = closed(manifestMembers)
export const Manifest = closed({ report_id: Id(), ...manifestMembers }, { title: 'ReportManifest' })

export const Template = closed(
  {
    key: Slug(),
    version: integer(1, 1_000_000),
    title: text(200),
    description: text(1000),
    roles: listOf(oneOf(roles), roles.length, { description: 'Who may request it, and read what was made from it.' }),
    formats: listOf(Format, reportFormats.length, { description: 'What this installation can make.' }),
    parameters: Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
      description: 'JSON Schema of the parameters.',
    }),
  },
  { title: 'ReportTemplate' },
)
export const TemplatePage = closed({ items: listOf(Template, 200) })
export const TemplateParams = closed({ key: Slug() })
