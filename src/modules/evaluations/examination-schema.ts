/** Wire contract of examining decisions: replay, re-evaluation, what-if, certificate and comparison. */
import { Count, closed, Id, integer, listOf, nullable, oneOf, Slug, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

import { AnyJson, AnyObject, Evaluation, Explanation, Inputs, Outcome, Version } from './schema.ts'

const { Sha256 } = registrySchemas

const Change = closed({
  pointer: Type.String({ description: 'JSON Pointer into the decision document.' }),
  before: Type.Optional(AnyJson('Absent when there was none.')),
  after: Type.Optional(AnyJson('Absent when there is none.')),
})
const Fault = closed(
  {
    code: text(100),
    pointer: Type.String({ description: 'JSON Pointer into the inputs or into the definition.' }),
    message: Type.String(),
  },
  { title: 'DecisionFault' },
)

export const Replay = closed(
  {
    evaluation_id: Id(),
    verdict: oneOf(['identical', 'different', 'tampered'], {
      description:
        'identical: the same document, byte for byte. different: the stored record is intact, but recomputing gives another. ' +
        'tampered: the record, its receipt or what it pins was altered.',
    }),
    faults: Type.Array(Type.String(), { description: 'What was altered, or why it could not be recomputed.' }),
    differences: Type.Array(Change, { description: 'Stored before, recomputed after.' }),
    engine: Version,
    document_hash: text(64, { description: 'As stored.' }),
    recomputed_hash: nullable(Sha256),
    evidence: Type.Array(
      closed({
        contract_key: Slug(),
        contract_version: Version,
        payload: oneOf(['verified', 'removed', 'altered'], {
          description:
            'verified: the stored bytes have the pinned hash, and the contract reads the same facts from them. removed: retention has ' +
            'deleted the bytes; the stored facts were compared. altered: bytes, contract or facts are no longer what was pinned.',
        }),
      }),
      { description: 'Answers of providers that the decision was made on, read again from the stored bytes.' },
    ),
  },
  { title: 'Replay' },
)

const EvaluationAttempt = closed(
  {
    outcome: nullable(Outcome),
    findings: Type.Array(Fault, { description: 'Why nothing could be decided; empty otherwise.' }),
  },
  { title: 'EvaluationAttempt' },
)
const VersionSwitch = closed(
  {
    family: oneOf(['matrix', 'rule', 'list', 'plugin', 'engine'], {
      description: 'A plugin changes with its version, its configuration and the lists that it looks up.',
    }),
    key: Slug(),
    from_version: nullable(Version),
    from_origin: nullable(registrySchemas.Origin),
    to_version: nullable(Version),
    to_origin: nullable(registrySchemas.Origin),
    from_overlay: nullable(Version),
    to_overlay: nullable(Version),
    effect: oneOf(['whole', 'part', 'joint', 'none', 'unknown'], {
      description:
        'Switched alone, this change gives today’s outcome (whole) or another one (part); joint: it has a part in it only ' +
        'together with others; none: it makes no difference; unknown: there was no time left to try it.',
    }),
    alone: nullable(EvaluationAttempt),
    changes: Type.Array(Change, { description: 'What this change alone alters in the outcome.' }),
  },
  { title: 'VersionSwitch' },
)
export const Reevaluation = closed(
  {
    evaluation_id: Id(),
    same_outcome: Type.Boolean(),
    before: Outcome,
    after: EvaluationAttempt,
    explanation: nullable(Explanation),
    changes: Type.Array(Change, { description: 'Between the stored outcome and today’s.' }),
    switches: Type.Array(VersionSwitch, {
      description: 'Everything with another version today, and its effect.',
    }),
  },
  { title: 'Reevaluation' },
)

const OtherOwner = Type.Optional(
  oneOf(['own', 'shared'], { description: 'Whose version it is; of the owner that was pinned when absent.' }),
)
export const WhatIfRequest = closed({
  inputs: Type.Optional(Inputs('Only what is to be different; null takes an input away.')),
  definition_version: Type.Optional(Version),
  definition_origin: OtherOwner,
  lists: Type.Optional(
    listOf(closed({ list_key: Slug(), version: Version, origin: OtherOwner }), 50, {
      description: 'Lists to be read in another version; all others as pinned.',
    }),
  ),
  search: Type.Optional(
    Type.Boolean({ default: false, description: 'Also search the smallest change of inputs that alters the band.' }),
  ),
  band: Type.Optional(text(100, { description: 'Search only for changes that lead to this band.' })),
})
const InputChange = closed({
  name: text(200),
  from: Type.Optional(AnyJson('Absent when it was not given.')),
  to: AnyJson('What it would have to be.'),
})
const Search = closed(
  {
    changes: Type.Array(
      closed({
        changed: Type.Array(InputChange),
        result: Type.String({ description: 'The band they lead to; for a rule hit or no hit.' }),
      }),
      { description: 'All with the same, smallest number of inputs, nearest values first; empty when none was found.' },
    ),
    searched: closed(
      {
        inputs: Type.Array(text(200)),
        not_searched: Type.Array(text(200), { description: 'Not searched: their values cannot be enumerated.' }),
        plugin_factors: Type.Array(text(200), {
          description:
            'Not searched: what the plugins of these factors would score. Their inputs were left as they are.',
        }),
        candidates: Count,
        decisions: Count,
        together: integer(0, 2, { description: 'How many inputs were changed together; 0: nothing could be tried.' }),
        truncated: Type.Boolean({
          description: 'The search was limited by number or time.',
        }),
      },
      { description: 'What was searched.' },
    ),
  },
  { title: 'SmallestChange' },
)
export const WhatIf = closed(
  {
    evaluation_id: Id(),
    before: Outcome,
    after: EvaluationAttempt,
    explanation: nullable(Explanation),
    changes: Type.Array(Change),
    search: nullable(Search),
  },
  { title: 'WhatIf' },
)

export const Certificate = closed(
  {
    format: text(100),
    tenant_id: Id(),
    evaluation_id: Id(),
    subject_id: nullable(Id()),
    decided_at: Timestamp(),
    decided_by: text(200),
    receipt_id: Id(),
    receipt_hash: Sha256,
    document: AnyObject(
      'The decision document; its canonical JSON text has document_hash. Of the format probity-decision/2 it holds a random ' +
        'salt, without which its hash cannot be compared with guessed inputs; documents of probity-decision/1 have none.',
    ),
    document_hash: Sha256,
    key_id: text(64),
    public_key: text(100),
    earlier_keys: Type.Array(closed({ key_id: text(64), public_key: text(100), succession: text(200) })),
    signature: text(200, { description: 'Ed25519 over the canonical JSON of all other members.' }),
  },
  { title: 'Certificate' },
)

export const ComparisonRequest = closed({
  evaluation_ids: listOf(Id(), 2, { minItems: 2, uniqueItems: true, description: 'The earlier one first.' }),
})
export const Comparison = closed(
  {
    before: Evaluation,
    after: Evaluation,
    same_outcome: Type.Boolean(),
    same_inputs: Type.Boolean(),
    same_versions: Type.Boolean(),
    changes: Type.Array(Change, { description: 'Field by field, over the whole documents.' }),
  },
  { title: 'EvaluationComparison' },
)
