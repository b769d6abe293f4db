/** Wire contract of decisions: what is asked, what was decided and why, and what examining a decision answers. */
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
  Slug,
  Timestamp,
  Type,
  text,
} from '../../kernel/schema.ts'
import { registrySchemas } from '../reference-data/index.ts'

const { Sha256 } = registrySchemas
const Version = integer(1, Number.MAX_SAFE_INTEGER)
export const Bps = integer(0, 10_000, { description: 'In basis points.' })
export const Band = text(100, {
  description: 'A band of the matrix, as its list of bands names it.',
  examples: ['high'],
})
const AnyJson = (description: string) => Type.Unsafe<unknown>({ description })
const AnyObject = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })

export const EvaluationParams = closed({ evaluation_id: Id() })

/** Which members there may be is said by the matrix or rule, so that the faults are located by it. */
const Inputs = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: 100, description })

const MatrixKey = Slug({
  description: 'The matrix that decides. Either this or rule_key.',
  examples: ['customer-risk'],
})
const RuleKey = Slug({
  description: 'The rule that decides. Either this or matrix_key.',
  examples: ['cash-structuring'],
})

export const EvaluationRequest = closed({
  matrix_key: Type.Optional(MatrixKey),
  rule_key: Type.Optional(RuleKey),
  subject_id: Type.Optional(
    Id({ description: 'Whom it is about: its attributes are inputs, and it gets the rating. Members of inputs win.' }),
  ),
  inputs: Type.Optional(Inputs('By the names the matrix or rule declares.')),
  valid_at: Type.Optional(
    Timestamp({ description: 'Decide with the versions that govern this instant; now when absent.' }),
  ),
})

export const Outcome = closed(
  {
    family: oneOf(['matrix', 'rule']),
    band: nullable(Band),
    scored_band: nullable(text(100, { description: 'What the score alone gives, before triggers.' })),
    score_bps: nullable(Bps),
    hit: nullable(Type.Boolean({ description: 'Of a rule: whether it holds.' })),
    outputs: nullable(AnyObject('Of a rule: what its rows gave.')),
    required_actions: listOf(text(200), 1000),
    reason_codes: listOf(text(200), 1000),
  },
  { title: 'EvaluationOutcome' },
)

const FactorExplanation = closed(
  {
    key: text(100),
    title: text(500),
    score_bps: Bps,
    weight_bps: nullable(Bps),
    contribution_bps: text(50, { description: 'Exact, with four decimals.' }),
    reason: Type.String(),
    reason_code: nullable(text(200)),
    read: AnyObject('The inputs it read, with their values.'),
    found: Type.Optional(
      Type.Array(
        closed({
          list_key: Slug(),
          key: Type.String(),
          field: nullable(Type.String()),
          value: AnyJson('What the list said.'),
        }),
      ),
    ),
    rows: Type.Optional(Type.Array(text(200), { description: 'The rows of its table that fired.' })),
    defaulted: Type.Optional(
      Type.Boolean({ description: 'The list had no such key, and the stated default was used.' }),
    ),
  },
  { title: 'FactorExplanation' },
)
export const Explanation = closed(
  {
    inputs: Type.Array(
      closed({
        name: text(200),
        value: AnyJson('As it was decided on.'),
        defaulted: Type.Boolean({ description: 'It was not given, and the declared default was used.' }),
      }),
    ),
    factors: Type.Array(FactorExplanation),
    triggers: Type.Array(
      closed({
        key: text(100),
        title: text(500),
        floor_band: nullable(text(100)),
        required_actions: Type.Array(text(200)),
        reason: Type.String(),
        reason_code: text(200),
      }),
    ),
    rows: Type.Array(closed({ key: text(200), reason: nullable(Type.String()), reason_code: nullable(text(200)) }), {
      description: 'Of a rule: the rows that fired.',
    }),
    summary: Type.Array(Type.String(), { description: 'The whole decision in sentences.' }),
  },
  { title: 'EvaluationExplanation' },
)

const Reasons = listOf(
  closed(
    {
      code: text(200),
      title: Type.String({ description: 'Of the triggers and factors that gave it.' }),
      text: Type.String({ description: 'What they say of this decision.' }),
    },
    { title: 'ReasonInWords' },
  ),
  1000,
  { description: 'Each reason code in the words of the definition that decided.' },
)

/** What is pinned of the definition and of each list it read. */
const Pinned = closed(
  {
    list_key: Slug(),
    origin: registrySchemas.Origin,
    via: text(20, { description: 'Why this version: tenant-own, tenant-pin or shared.' }),
    version: Version,
    content_hash: Sha256,
    overlay_version: nullable(Version),
    overlay_hash: nullable(Sha256),
  },
  { title: 'PinnedVersion' },
)
const Definition = closed(
  {
    family: oneOf(['matrix', 'rule']),
    key: Slug(),
    origin: registrySchemas.Origin,
    version: Version,
    content_hash: Sha256,
  },
  { title: 'PinnedDefinition' },
)
const Receipt = closed(
  { receipt_id: Id(), manifest_hash: Sha256, valid_at: Timestamp(), known_at: Timestamp() },
  { title: 'EvaluationReceipt' },
)

const row = {
  evaluation_id: Id(),
  family: oneOf(['matrix', 'rule']),
  definition_key: Slug(),
  definition_version: Version,
  subject_id: nullable(Id()),
  valid_at: Timestamp(),
  band: nullable(Band),
  score_bps: nullable(Bps),
  hit: nullable(Type.Boolean()),
  reason_codes: listOf(text(200), 1000),
  required_actions: listOf(text(200), 1000),
  engine: Version,
  document_hash: Sha256,
  decided_at: Timestamp(),
  created_by: text(200),
}
export const EvaluationItem = closed(
  {
    ...row,
    intact: Type.Boolean({ description: 'False: the record was altered behind the service’s back.' }),
  },
  { title: 'EvaluationItem' },
)
export const EvaluationPage = pageOf(EvaluationItem)
export const EvaluationQuery = closed({
  ...pageQuery,
  subject_id: Type.Optional(Id()),
  family: Type.Optional(oneOf(['matrix', 'rule'])),
  matrix_key: Type.Optional(Slug({ description: 'Decisions of this matrix.' })),
  rule_key: Type.Optional(Slug({ description: 'Decisions of this rule.' })),
  band: Type.Optional(Band),
  from_at: Type.Optional(Timestamp({ description: 'Decided at or after.' })),
  until_at: Type.Optional(Timestamp({ description: 'Decided before.' })),
})

const whole = {
  ...row,
  reasons: Reasons,
  outcome: Outcome,
  definition: Definition,
  lists: listOf(Pinned, 200),
  receipt: Receipt,
}
export const Evaluation = closed(whole, { title: 'Evaluation' })
export const EvaluationWithReasons = closed({ ...whole, explanation: Explanation }, { title: 'EvaluationWithReasons' })
export const Preview = closed(
  {
    valid_at: nullable(Timestamp({ description: 'Null: now.' })),
    engine: Version,
    reasons: Reasons,
    outcome: Outcome,
    explanation: Explanation,
    definition: Definition,
    lists: listOf(Pinned, 200),
  },
  { title: 'EvaluationPreview' },
)
export const ExplanationView = closed(
  { evaluation_id: Id(), reasons: Reasons, outcome: Outcome, explanation: Explanation },
  { title: 'ExplanationOfEvaluation' },
)
export const PinnedInputs = closed(
  {
    evaluation_id: Id(),
    inputs: AnyObject('As they were given, subject and request together.'),
    valid_at: nullable(Timestamp({ description: 'As asked for; null: the instant of deciding.' })),
    engine: Version,
    definition: Definition,
    lists: listOf(Pinned, 200),
    used: Type.Array(
      closed({
        list_key: Slug(),
        key: Type.String(),
        field: nullable(Type.String({ description: 'Null: asked was whether the key is on the list.' })),
        value: AnyJson('What the list said.'),
        hash: nullable(text(64, { description: 'Of the entry; null where the key is not on the list.' })),
      }),
      { description: 'Everything that was read from lists, with the hash of the entry that proves it.' },
    ),
    receipt: Receipt,
    document_hash: Sha256,
  },
  { title: 'InputsOfEvaluation' },
)

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
    family: oneOf(['matrix', 'rule', 'list', 'engine']),
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
      description: 'Everything that has another version today, and what it contributes.',
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
        not_searched: Type.Array(text(200), { description: 'Left as they are: their values cannot be gone through.' }),
        candidates: Count,
        decisions: Count,
        together: integer(0, 2, { description: 'How many inputs were changed at once; 0: nothing could be tried.' }),
        truncated: Type.Boolean({
          description: 'Something was left untried, for its number or for the time it would have taken.',
        }),
      },
      { description: 'The space that was searched.' },
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
