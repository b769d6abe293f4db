/** Wire contract of decisions: request, outcome and explanation. */
import {
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
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

const { Sha256 } = registrySchemas
export const Version = integer(1, Number.MAX_SAFE_INTEGER)
export const Bps = integer(0, 10_000, { description: 'In basis points.' })
export const Band = text(100, {
  description: 'A band of the matrix, as its list of bands names it.',
  examples: ['high'],
})
export const AnyJson = (description: string) => Type.Unsafe<unknown>({ description })
export const AnyObject = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })

export const EvaluationParams = closed({ evaluation_id: Id() })

/** The matrix or rule declares the members, so its engine reports their faults. */
export const Inputs = (description: string) =>
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
    Id({
      description: 'The subject: its attributes are inputs, and it gets the rating. Members of inputs take precedence.',
    }),
  ),
  inputs: Type.Optional(Inputs('By the names the matrix or rule declares.')),
  valid_at: Type.Optional(
    Timestamp({ description: 'Decide with the versions in force at this instant; now when absent.' }),
  ),
})

export const Outcome = closed(
  {
    family: oneOf(['matrix', 'rule']),
    band: nullable(Band),
    scored_band: nullable(text(100, { description: 'The band of the score alone, before triggers.' })),
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
    summary: Type.Array(Type.String(), { description: 'The decision in sentences.' }),
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

/** The pinned versions of the definition and of each list it read. */
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
    subject_name: nullable(text(500, { description: 'As it is now; null: no subject.' })),
    intact: Type.Boolean({ description: 'False: the stored record was altered outside the service.' }),
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
        field: nullable(Type.String({ description: 'Null: a test whether the key is on the list.' })),
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
