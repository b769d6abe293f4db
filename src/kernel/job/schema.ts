/** The wire form of a job. */
import {
  Count,
  closed,
  Id,
  integer,
  nullable,
  oneOf,
  RestrictionInForce,
  Revision,
  Timestamp,
  Type,
  text,
} from '../schema.ts'
import { jobStates } from './queries.ts'

export const JobView = closed(
  {
    job_id: Id(),
    kind: text(100),
    state: oneOf(jobStates),
    resource: nullable(text(500, { description: 'Path of what the job concerns; its result is read there.' })),
    progress: closed({
      done: Count,
      total: nullable(Count),
      unit: nullable(text(50)),
    }),
    result: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
    problem: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Why it failed, or why its last attempt did, as a problem object.',
    }),
    attempts: integer(0, 1000),
    max_attempts: integer(1, 1000),
    cancel_requested: Type.Boolean(),
    run_at: Timestamp({ description: 'Not before this time. Of a queued job, when it runs next.' }),
    deferred_since: nullable(
      Timestamp({ description: 'Since when it waits for something outside, without progress; null when it does not.' }),
    ),
    created_at: Timestamp(),
    created_by: text(200),
    restriction_id: RestrictionInForce(),
    started_at: nullable(Timestamp()),
    finished_at: nullable(Timestamp()),
    revision: Revision,
  },
  { title: 'Job' },
)

export const isTerminal = (state: string): boolean =>
  state === 'succeeded' || state === 'failed' || state === 'cancelled'
