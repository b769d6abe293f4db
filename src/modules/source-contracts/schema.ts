/** Wire shapes of admissions, the quarantine and checks of payloads. */
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
import { documentStore, registrySchemas } from '#modules/definitions/index.ts'

/** More items in quarantine are not counted. */
export const MAX_COUNTED_ITEMS = 10_000

export const ContractKey = Slug({ description: 'Name of the contract.', examples: ['company-registry'] })
export const KeyParams = closed({ contract_key: ContractKey })
export const VersionParams = closed({
  contract_key: ContractKey,
  version: registrySchemas.VersionText('A version number, a label, or the word draft.'),
})
export const PayloadParams = closed({ payload_id: Id() })

const Pointer = Type.String({ maxLength: 600, description: 'JSON Pointer; `*` is any element of an array.' })

export const ViolationView = closed(
  {
    code: text(100),
    pointer: Type.String({
      maxLength: 600,
      description: 'JSON Pointer into the record where record_index is a number, otherwise into the payload.',
    }),
    keyword: text(100, { description: 'The keyword of JSON Schema, or the part of the contract that refuses it.' }),
    expected: Type.String({
      maxLength: 1000,
      description: 'What the contract demands there. Never a value of the payload.',
    }),
    record_index: nullable(Count),
  },
  { title: 'ContractViolation' },
)
const Violations = listOf(ViolationView, 100, { description: 'At most 100; `more_violations` counts the rest.' })
const NoteView = closed({ code: text(100), pointer: Pointer, record_index: nullable(Count) }, { title: 'ContractNote' })
const Notes = listOf(NoteView, 100)
export const Result = oneOf(['admitted', 'admitted_with_notes', 'quarantined'])
const ProvenanceView = closed({
  source: nullable(Type.String({ maxLength: 2000 })),
  as_of: nullable(Type.String({ maxLength: 100 })),
})

const FactValues = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'Values by the name of the fact.',
})
const FactRecordView = closed({ record_index: Count, facts: FactValues })

export const CheckRequest = closed({
  payload: Type.Optional(registrySchemas.AnyJson('The payload as JSON.')),
  text: Type.Optional(
    Type.String({
      maxLength: 900_000,
      pattern: '^[^\\u0000]*$',
      description: 'The payload as text, for XML or to check its exact characters.',
    }),
  ),
  media_type: Type.Optional(text(200, { default: 'application/json', examples: ['application/xml'] })),
  received_at: Type.Optional(Timestamp({ description: 'When it arrives, for freshness; now when absent.' })),
})
export const CheckReply = closed(
  {
    contract_key: ContractKey,
    version: nullable(registrySchemas.VersionNumber),
    result: Result,
    incomplete: Type.Boolean({ description: 'Some records were refused although the payload is admitted.' }),
    record_count: Count,
    violations: Violations,
    more_violations: Count,
    notes: Notes,
    provenance: ProvenanceView,
    records: listOf(FactRecordView, 10_000, { description: 'Facts of the admitted records.' }),
    lists: listOf(documentStore.ListVersion, 1000, { description: 'Versions of lists it was checked against.' }),
    converted: registrySchemas.AnyJson(
      'An XML payload as JSON, which pointers refer to; null for JSON, and for XML that cannot be parsed.',
    ),
  },
  { title: 'ContractCheck' },
)

const ActivityItem = closed(
  {
    contract_key: ContractKey,
    open_quarantine: Count,
    drift_findings: Type.Integer({ minimum: 0, description: 'Findings of the last 90 days.' }),
    last_payload_at: nullable(Timestamp({ description: 'When the newest payload arrived.' })),
    last_result: nullable(Result),
  },
  { title: 'ContractActivity' },
)
export const Activity = closed(
  {
    items: listOf(ActivityItem, 5000, { description: 'Contracts with payloads, by key.' }),
    open_quarantine: Type.Integer({
      minimum: 0,
      maximum: MAX_COUNTED_ITEMS,
      description: `Payloads that wait in quarantine. The newest ${MAX_COUNTED_ITEMS} are counted.`,
    }),
  },
  { title: 'ContractActivityList' },
)

const quarantineItem = {
  payload_id: Id(),
  admission_id: Id(),
  contract_key: ContractKey,
  contract_version: registrySchemas.VersionNumber,
  source_kind: text(40),
  source_id: Id(),
  call_id: nullable(Id({ description: 'The call of a provider that it answers.' })),
  received_at: Timestamp(),
  media_type: text(200),
  byte_size: Count,
  record_count: Count,
  violations: Violations,
  more_violations: Count,
  state: oneOf(['open', 'resolved']),
  resolution: nullable(oneOf(['widened', 'provider_fault', 'discarded', 'reprocessed'])),
  reason: nullable(text(2000)),
  resolved_at: nullable(Timestamp()),
  resolved_by: nullable(text(200)),
  restriction_id: RestrictionInForce(),
  revision: Revision,
  created_at: Timestamp(),
}
export const QuarantineItem = closed(quarantineItem, { title: 'QuarantineItem' })
export const QuarantinePage = pageOf(QuarantineItem)
export const QuarantineQuery = closed({
  ...pageQuery,
  contract_key: Type.Optional(ContractKey),
  state: Type.Optional(oneOf(['open', 'resolved'])),
  keyword: Type.Optional(
    text(100, { description: 'Only payloads with a violation of this keyword.', examples: ['required'] }),
  ),
})

const AdmissionView = closed(
  {
    admission_id: Id(),
    contract_version: registrySchemas.VersionNumber,
    result: Result,
    incomplete: Type.Boolean(),
    replaces_admission_id: nullable(Id()),
    created_at: Timestamp(),
    created_by: text(200),
  },
  { title: 'PayloadAdmission' },
)
export const QuarantineView = closed(
  {
    ...quarantineItem,
    admissions: listOf(AdmissionView, 100, { description: 'Newest first.' }),
    payload: registrySchemas.AnyJson(
      'The payload without values of personal and undeclared members; null when it cannot be parsed or its bytes were removed.',
    ),
    records_at: Type.String({
      maxLength: 600,
      description:
        'JSON Pointer to the records by the version that judged it; violations with a record_index point below it.',
    }),
    has_content: Type.Boolean({ description: 'False once the retention policy has removed the bytes.' }),
  },
  { title: 'QuarantinedPayload' },
)

export const ResolveRequest = closed({
  action: oneOf(['widen', 'provider_fault', 'discard'], {
    description:
      'widen: open a draft of the contract with the smallest change that admits the payload. provider_fault: the provider sent ' +
      'something wrong. discard: the payload is not needed.',
  }),
  reason: reasonText(2000, { description: 'Why; stored with the item.' }),
  expected_revision: Type.Optional(integer(1, Number.MAX_SAFE_INTEGER)),
})
export const ResolveReply = closed(
  {
    ...quarantineItem,
    draft_revision: nullable(
      integer(1, Number.MAX_SAFE_INTEGER, { description: 'With widen: the revision of the draft that was opened.' }),
    ),
  },
  { title: 'QuarantineResolution' },
)

export const ReprocessRequest = closed({})
