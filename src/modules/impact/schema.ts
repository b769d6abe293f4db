/** Wire contract of impact runs: candidate, sample of past decisions, and changed decisions. */
import { jobStates } from '#kernel/job/queries.ts'
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
} from '#kernel/schema.ts'
import { documentStore, registrySchemas } from '#modules/definitions/index.ts'
import { NO_IMPACT_REASONS } from './explain-no-impact.ts'
import { MAX_SAMPLES, MAX_SUBJECTS } from './impact-tally.ts'

const families = ['list', 'matrix', 'rule', 'plugin'] as const
const Definition = { family: oneOf(['matrix', 'rule']), key: Slug() }
const Result = (description: string) => nullable(text(100, { description }))
const Action = text(200)

export const RunRequest = closed({
  max_subjects: Type.Optional(
    integer(1, MAX_SUBJECTS, {
      default: MAX_SUBJECTS,
      description: 'Sample size, when more subjects have a decision; the result states it with the seed.',
    }),
  ),
  seed: Type.Optional(integer(0, 2_147_483_647, { description: 'Selects the same sample again; random when absent.' })),
})

export const DatasetVersionParams = closed({
  list_key: Slug({ description: 'Name of the list.', examples: ['jurisdiction-risk'] }),
  version: registrySchemas.VersionText(),
})
export const RunParams = closed({ run_id: Id() })
export const RequestParams = closed({ cr_id: Id() })

export const RunQuery = closed({
  ...pageQuery,
  family: Type.Optional(oneOf(families, { description: 'Of what would change.' })),
  list_key: Type.Optional(Slug({ description: 'Key of what would change; with family.' })),
})
export const BacktestQuery = closed(pageQuery)

const row = {
  run_id: Id(),
  job_id: Id(),
  family: oneOf(families),
  key: Slug({ description: 'Of the list, matrix or rule that would change.' }),
  version: nullable(integer(1, Number.MAX_SAFE_INTEGER, { description: 'Null: a draft.' })),
  origin: registrySchemas.Origin,
  content_hash: text(64, { description: 'Of exactly what was tried.' }),
  overlay_hash: nullable(text(64, { description: 'Of the overlay that was tried on a shared list.' })),
  cr_id: nullable(Id({ description: 'The change request it was made for.' })),
  state: oneOf(jobStates),
  progress: closed({ done: Count, total: nullable(Count), unit: nullable(text(50)) }),
  problem: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
  from_at: Timestamp({ description: 'Start of the window; the latest decision of each subject is used.' }),
  until_at: Timestamp(),
  receipt_id: nullable(Id({ description: 'Pins everything that was in force when it began.' })),
  manifest_hash: registrySchemas.Sha256,
  created_at: Timestamp(),
  created_by: text(200),
  finished_at: nullable(Timestamp()),
}
export const RunRow = closed(row, { title: 'ImpactRunSummary' })
export const RunPage = pageOf(RunRow)

const Side = closed({
  result: Result('The band; of a rule hit or no hit; null where nothing could be decided.'),
  score_bps: nullable(integer(0, 10_000)),
  required_actions: listOf(Action, 1000),
})
const Refusal = closed({
  code: text(100),
  pointer: Type.String({ description: 'JSON Pointer into the inputs or into the definition.' }),
  message: Type.String(),
})
const Sample = closed(
  {
    evaluation_id: nullable(Id({ description: 'The decision; null where it is an item of a batch.' })),
    batch_id: nullable(Id()),
    seq: nullable(integer(1, Number.MAX_SAFE_INTEGER, { description: 'Of the item in its batch.' })),
    subject_id: Id(),
    name: nullable(
      text(500, { description: 'Null: for roles that may not read subjects, or the subject was removed.' }),
    ),
    external_id: nullable(text(200, { description: 'As for `name`.' })),
    segment: nullable(text(200)),
    ...Definition,
    before: Side,
    after: Side,
    factors: listOf(
      closed({
        factor: text(100),
        before_bps: nullable(integer(0, 10_000)),
        after_bps: nullable(integer(0, 10_000)),
      }),
      200,
      { description: 'Factors whose score moved.' },
    ),
    refusals: listOf(Refusal, 10, { description: 'Why nothing could be decided any more.' }),
  },
  { title: 'ImpactSample' },
)

const ImpactResult = closed(
  {
    definitions: listOf(
      closed({ ...Definition, version: integer(1, Number.MAX_SAFE_INTEGER), missing: listOf(Slug(), 200) }),
      1000,
      { description: 'The matrices and rules in force that read it, with missing lists.' },
    ),
    population: closed(
      {
        subjects: Count,
        taken: Count,
        seed: nullable(Count),
        complete: Type.Boolean({ description: 'Every subject was taken; otherwise a sample drawn with the seed.' }),
      },
      { description: 'Active subjects with a decision in the window.' },
    ),
    decisions: integer(0, Number.MAX_SAFE_INTEGER, {
      description: 'Evaluated decisions: the latest of each subject, per definition.',
    }),
    unusable: integer(0, Number.MAX_SAFE_INTEGER, {
      description: 'Stored decisions that were altered; not evaluated.',
    }),
    flips: integer(0, Number.MAX_SAFE_INTEGER, { description: 'Another band, or hit for no hit.' }),
    score_moves: integer(0, Number.MAX_SAFE_INTEGER, { description: 'Another score, flips included.' }),
    refusals_added: integer(0, Number.MAX_SAFE_INTEGER, { description: 'Decided today, refused with the candidate.' }),
    refusals_removed: Count,
    transitions: listOf(
      closed({
        ...Definition,
        from: Result('With what is in force today; null: refused.'),
        to: Result('With the candidate; null: refused.'),
        decisions: Count,
      }),
      10_000,
      { description: 'Every evaluated decision is in one of them.' },
    ),
    factors: listOf(
      closed({ ...Definition, factor: text(100), moved: Count, raised: Count, lowered: Count, flipped: Count }),
      10_000,
      { description: 'Whose score moved, and in how many decisions that flipped.' },
    ),
    segments: listOf(
      closed({ segment: nullable(text(200)), decisions: Count, flips: Count, refusals_added: Count }),
      1000,
      { description: 'By customer segment; null: subjects without one.' },
    ),
    other_segments: closed(
      { decisions: Count, flips: Count, refusals_added: Count },
      { description: 'Of the segments beyond those listed.' },
    ),
    required_actions: listOf(closed({ action: Action, added: Count, removed: Count }), 1000),
    refusals: listOf(
      closed({ code: text(100), pointer: Type.String(), message: Type.String(), decisions: Count }),
      100,
      {
        description: 'Why decisions would be refused that are not today; the first hundred reasons.',
      },
    ),
    known_outcomes: nullable(
      closed(
        {
          decisions: integer(0, Number.MAX_SAFE_INTEGER, { description: 'About subjects under an override.' }),
          agreed_before: integer(0, Number.MAX_SAFE_INTEGER, {
            description: 'The matrix in force says the same band.',
          }),
          agreed_after: integer(0, Number.MAX_SAFE_INTEGER, {
            description: 'With the candidate it says the same band.',
          }),
          table: listOf(
            closed({
              key: Slug({ description: 'Of the matrix.' }),
              outcome: text(100, { description: 'The band of the override.' }),
              before: Result('With what is in force today; null: refused.'),
              after: Result('With the candidate; null: refused.'),
              decisions: Count,
            }),
            10_000,
          ),
        },
        {
          description:
            'Where a person had overridden the rating when the run began, their band is the known outcome. ' +
            'Null: measured before overrides were included.',
        },
      ),
    ),
    samples: listOf(Sample, MAX_SAMPLES, { description: 'Flips and new refusals first, then moved scores.' }),
  },
  { title: 'ImpactResult' },
)

export const RunView = closed(
  {
    ...row,
    stale: Type.Boolean({ description: 'The measurement is outdated.' }),
    stale_because: nullable(
      oneOf(['candidate', 'in_force'], {
        description: 'What has changed since: the candidate, or the versions it was compared with.',
      }),
    ),
    no_impact: nullable(
      closed(
        { reason: oneOf(NO_IMPACT_REASONS), detail: text(5000, { description: 'In words.' }) },
        {
          title: 'NoImpact',
          description: 'Why nothing would change. Null: something would, or the run has not finished.',
        },
      ),
    ),
    result: nullable(ImpactResult),
  },
  { title: 'ImpactRun' },
)

/** Path parameters of a definition and of its runs. */
export const createBacktestSchemas = (kind: documentStore.DefinitionKind) => {
  const { KeyParams, VersionParams } = documentStore.createDefinitionSchemas(kind)
  const Key = (KeyParams as unknown as { properties: Record<string, ReturnType<typeof Slug>> }).properties[kind.param]
  return { KeyParams, VersionParams, RunParams: closed({ [kind.param]: Key as ReturnType<typeof Slug>, run_id: Id() }) }
}
