/** Wire shapes of lineage and drift. */
import { DRIFT_KINDS } from '#contract/drift-findings.ts'
import { Count, closed, Id, listOf, nullable, oneOf, pageQuery, Slug, Timestamp, Type, text } from '#kernel/schema.ts'
import { documentStore, registrySchemas } from '#modules/definitions/index.ts'

const Pointer = Type.String({
  maxLength: 600,
  description: 'JSON Pointer into a record; `*` is any element of an array.',
})

const Reader = closed(
  { family: text(40), key: Slug(), version: Count, input: text(60), fact: text(60), is_active: Type.Boolean() },
  { title: 'FactReader' },
)
const LineageItem = closed(
  {
    pointer: Pointer,
    declared: Type.Boolean(),
    personal: Type.Boolean(),
    collected: nullable(Type.Number({ minimum: 0, description: 'Share of records that have it.' })),
    facts: listOf(text(60), 200),
    read_by: listOf(Reader, 1000, { description: 'Definitions that read a fact of this member.' }),
    verdict: oneOf(['scored', 'enforced', 'kept_only', 'never_seen', 'undeclared'], {
      description:
        'scored: a definition in force reads it. enforced: a list or a check tests it. kept_only: collected, and nothing uses it.',
    }),
  },
  { title: 'LineageItem' },
)
export const Lineage = closed(
  {
    contract_key: Slug(),
    version: registrySchemas.VersionNumber,
    records: Type.Integer({
      minimum: 0,
      description: 'Records that arrived in the last 90 days, as far as they are counted.',
    }),
    items: listOf(LineageItem, 5000),
    personal_unread: listOf(Type.String(), 5000, {
      description: 'Personal members that are collected and that no definition in force reads.',
    }),
    lists: listOf(documentStore.ListVersion, 1000),
  },
  { title: 'ContractLineage' },
)

export const DriftQuery = closed({
  acknowledged: Type.Optional(
    oneOf(['yes', 'no'], { description: 'Only findings that somebody acknowledged, or that nobody did.' }),
  ),
  ...pageQuery,
})
export const FindingParams = closed({ contract_key: Slug(), finding_id: Id() })
export const Acknowledgement = closed(
  {
    note: Type.Optional(text(2000, { description: 'What follows from it.', examples: ['The provider announced it.'] })),
  },
  { title: 'DriftAcknowledgement' },
)
export const Finding = closed(
  {
    finding_id: Id(),
    contract_version: registrySchemas.VersionNumber,
    window_id: Id(),
    kind: oneOf(DRIFT_KINDS),
    pointer: Pointer,
    item: Type.String({ maxLength: 100, description: 'The new value or the new kind; empty otherwise.' }),
    facts: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Figures before and now.' }),
    first_payload_id: nullable(Id({ description: 'null: there is none that the caller may see.' })),
    created_at: Timestamp(),
    acknowledged_at: nullable(Timestamp({ description: 'When somebody acknowledged it; null: nobody has.' })),
    acknowledged_by: nullable(text(200)),
    acknowledgement_note: nullable(text(2000)),
  },
  { title: 'DriftFinding' },
)
const Window = closed(
  {
    window_id: Id(),
    contract_version: registrySchemas.VersionNumber,
    state: oneOf(['open', 'closed']),
    is_baseline: Type.Boolean({ description: 'Later windows of the version are compared with it.' }),
    payload_count: Count,
    record_count: Count,
    opened_at: Timestamp(),
    closed_at: nullable(Timestamp()),
  },
  { title: 'DriftWindow' },
)
const ViolationGroup = closed(
  {
    contract_version: registrySchemas.VersionNumber,
    pointer: Pointer,
    keyword: text(100),
    violations: Type.Integer({
      minimum: 0,
      description: 'How many payloads that the caller may see have it, each counted once.',
    }),
    first_seen: Timestamp(),
    last_seen: Timestamp(),
    samples: listOf(Id(), 5, { description: 'Ids of the first payloads that had it.' }),
  },
  { title: 'ViolationGroup' },
)
export const Drift = closed(
  {
    items: Type.Array(Finding),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    windows: listOf(Window, 50, { description: 'With the first page: the newest first.' }),
    violations: listOf(ViolationGroup, 100, {
      description: 'With the first page: payloads that break one place in the same way, counted together.',
    }),
  },
  { title: 'ContractDrift' },
)
